"""Differences of a time, divided into its parts, by comparison and network.

Largest Contentful Paint has web.dev's four parts; Speed Index, the first paint and the largest
visible part are divided into waits (`eyelevel.analysis.trials.waits`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate, Floats
from eyelevel.analysis.stats.paired_gains import difference_over_sites, repetition_values
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence
from eyelevel.analysis.trials.waits import (
    KINDS,
    PAINT_MS,
    PAINT_WAITS,
    PART_MS,
    PART_OF,
    PART_SHARE,
    PART_WAITS,
    SPEED_WAITS,
)
from eyelevel.plan.comparisons import Compared, Comparison

PAINT = "largest_contentful_paint_ms"
PARTS = {
    "time_to_first_byte_ms": "time to first byte",
    "lcp_resource_load_delay_ms": "resource load delay",
    "lcp_resource_load_duration_ms": "resource load duration",
    "lcp_element_render_delay_ms": "element render delay",
}
"""The parts' usual names, in their order in time, by metric."""

WAITED_FOR = dict(
    zip(
        KINDS,
        ("waiting for connections", "waiting for first bytes", "waiting for bytes", "the browser"),
        strict=True,
    )
)


@dataclass(frozen=True, eq=False)
class Divided:
    """A time and its parts, as columns of the trials' table; `of`: the column with its element."""

    whole: str
    parts: Mapping[str, str]
    of: str | None = None

    @property
    def times(self) -> tuple[str, ...]:
        """The names of the columns, that of the whole time first."""
        return (self.whole, *self.parts)


def _divide(whole: str, parts: Sequence[str]) -> Divided:
    return Divided(whole, dict(zip(parts, WAITED_FOR.values(), strict=True)))


LARGEST_PAINT = Divided(PAINT, PARTS, "largest_contentful_paint_of")
SPEED_INDEX = _divide("speed_index_ms", SPEED_WAITS)
FIRST_PAINT = _divide(PAINT_MS, PAINT_WAITS)
LARGEST_PART = _divide(PART_MS, PART_WAITS)


@dataclass(frozen=True)
class Stops:
    """The interim analyses of a study that may stop early, and when its comparisons were decided.

    `decided` has repetitions; open comparisons are absent.
    """

    horizon: Horizon
    decided: Mapping[tuple[str, Comparison], int]


@dataclass(frozen=True)
class TimePart:
    """The means over sites of the sites' means, and the difference within blocks, in ms."""

    mean: float
    mean_reference: float
    difference: Estimate


@dataclass(frozen=True)
class NetworkParts(Compared):
    """A time of one comparison on one network, and its parts.

    All are of the same blocks, so that `parts` add up to `whole`, the means as well as the
    differences. `blocks_without` counts kept blocks that are left out, because a load timed out or
    lacks a part; `sites_without` have no other blocks. In `blocks_of_two` of the remaining blocks
    the two loads had different largest elements.
    """

    network: str
    stack: str
    reference: str
    sites: int
    sites_without: tuple[str, ...]
    blocks: int
    blocks_without: int
    blocks_of_two: int
    whole: TimePart
    parts: Mapping[str, TimePart]


def compare_parts(
    kept: pl.DataFrame,
    divided: Divided,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
    stops: Stops | None = None,
    significance_level: float = SIGNIFICANCE_LEVEL,
) -> list[NetworkParts]:
    """Return the parts of each comparison and network with a block in which both loads have them.

    The differences are those of `eyelevel.analysis.stats.paired_gains.difference_over_sites`, in
    milliseconds. In a study that may stop early their intervals are confidence sequences, each
    valid whenever the study stops, over the blocks up to the comparison's decision.
    """
    found = []
    of = (divided.of,) if divided.of else ()
    rows = kept.select("network", "site", "repetition", "stack", *divided.times, *of)
    for comparison in comparisons:
        of_stack, of_reference = (
            rows.filter(stack=name) for name in (comparison.stack, comparison.reference)
        )
        pairs = of_stack.join(of_reference, on=["network", "site", "repetition"], suffix="_r")
        for network in networks:
            own = pairs.filter(network=network)
            if stops and (last := stops.decided.get((network, comparison))) is not None:
                own = own.filter(pl.col("repetition") <= last)
            known = own.drop_nulls([*divided.times, *(f"{name}_r" for name in divided.times)])
            if known.height:
                horizon = stops.horizon if stops else None
                interval = _Interval(horizon, significance_level)
                found.append(_parts(network, comparison, divided, own, known, interval))
    return found


@dataclass(frozen=True)
class _Interval:
    """The settings of intervals: confidence sequences with a `horizon`, t intervals without one."""

    horizon: Horizon | None
    significance_level: float


def _parts(
    network: str,
    comparison: Comparison,
    divided: Divided,
    own: pl.DataFrame,
    known: pl.DataFrame,
    interval: _Interval,
) -> NetworkParts:
    x, r = (
        _values_by_site(known, [f"{name}{side}" for name in divided.times]) for side in ("", "_r")
    )
    parts = {name: _part(x[at], r[at], interval) for at, name in enumerate(divided.times)}
    absent = set(own["site"]) - set(known["site"])
    of_two = 0
    if divided.of:
        of_two = known.filter(pl.col(divided.of).ne_missing(pl.col(f"{divided.of}_r"))).height
    return NetworkParts(
        network=network,
        stack=comparison.stack,
        reference=comparison.reference,
        sites=known["site"].n_unique(),
        sites_without=tuple(sorted(absent)),
        blocks=known.height,
        blocks_without=own.height - known.height,
        blocks_of_two=of_two,
        whole=parts.pop(divided.whole),
        parts=parts,
    )


def _part(x: Floats, r: Floats, interval: _Interval) -> TimePart:
    mean, mean_reference = (float(np.nanmean(side, axis=1).mean()) for side in (x, r))
    level = interval.significance_level
    difference = difference_over_sites(x, r, 1 - level)
    if interval.horizon and difference.determined:  # without spread, no rule gives an interval
        difference = confidence_sequence(repetition_values(x - r), level, interval.horizon)
    return TimePart(mean, mean_reference, difference)


def _values_by_site(known: pl.DataFrame, columns: Sequence[str]) -> Floats:
    """Return columns x sites x repetitions; not-a-number if there is no block."""
    (sites, row), (repetitions, column) = (
        np.unique(known[name].to_numpy(), return_inverse=True) for name in ("site", "repetition")
    )
    wide = np.full((len(columns), len(sites), len(repetitions)), np.nan)
    wide[:, row, column] = known.select(columns).to_numpy().T
    return wide


NAMED_SHARE_MIN = 0.75
"""An object is named as the largest visible part if this share of a site's loads allows it. In the
others, the browser took longer than usual to show it."""


SITES_MAX = 2
"""The most sites of a comparison whose largest visible parts are reported."""


@dataclass(frozen=True)
class VisiblePart:
    """The largest part of a site's picture that appears at once, with either stack.

    `share` is its median share of the picture. `url` is the object that it came with; empty: the
    first paint; None: no single object in most loads. `times` has the times at which it appeared,
    in parts.
    """

    site: str
    share: float
    url: str | None
    times: NetworkParts


def visible_parts(
    kept: pl.DataFrame, network: str, comparison: Comparison, stops: Stops | None = None
) -> list[VisiblePart]:
    """Return the largest visible parts of the sites in which they moved most, at most SITES_MAX.

    The largest of many differences is large by chance, too: intervals are corrected by Bonferroni
    over all sites of the comparison.
    """
    loads = kept.filter(
        pl.col("network") == network,
        pl.col("stack").is_in([comparison.stack, comparison.reference]),
        pl.col(PART_SHARE).is_not_null(),
    )
    sites = loads["site"].n_unique()
    means = loads.group_by("site", "stack").agg(pl.col(PART_MS).mean())
    moved = (
        means.filter(stack=comparison.stack)
        .join(means.filter(stack=comparison.reference), on="site")
        .select("site", by=(pl.col(PART_MS) - pl.col(f"{PART_MS}_right")).abs())
        .drop_nulls()
        .sort(["by", "site"], descending=[True, False])
    )
    found = []
    for site in moved["site"].head(SITES_MAX):
        own = loads.filter(site=site)
        level = SIGNIFICANCE_LEVEL / sites
        times = compare_parts(own, LARGEST_PART, [comparison], [network], stops, level)
        if times:
            share = float(np.median(own[PART_SHARE].to_numpy()))
            found.append(VisiblePart(site, share, _find_carrier(own[PART_OF]), times[0]))
    return found


def _find_carrier(carriers: pl.Series) -> str | None:
    """Return the object that most loads name, or None.

    `carriers` has the possible objects of each load, one per line.
    """
    loads = [of.split("\n") for of in carriers.drop_nulls()]
    counts = Counter(url for urls in loads for url in urls)
    if not counts:
        return None
    url, often = counts.most_common(1)[0]
    return url if often >= NAMED_SHARE_MIN * len(loads) else None


def handshakes_of(kept: pl.DataFrame, network: str, stack: str) -> tuple[int, int] | None:
    """Return the fewest and the most handshakes before the first paint, over the sites' medians.

    None if no load has them.
    """
    own = kept.filter(pl.col("network") == network, pl.col("stack") == stack)
    by_site = own.group_by("site").agg(pl.col("first_paint_handshakes").median())
    typical = by_site["first_paint_handshakes"].drop_nulls()
    if not typical.len():
        return None
    counts = np.rint(typical.to_numpy())
    return int(counts.min()), int(counts.max())
