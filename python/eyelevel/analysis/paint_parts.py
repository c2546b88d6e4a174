"""In which of its four parts Largest Contentful Paint differs, by comparison and network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelevel.analysis.gains.p_values import value_alone
from eyelevel.plan.comparisons import Comparison
from eyelevel.stats.estimate import Estimate, Floats
from eyelevel.stats.repetitions import difference_over_sites

PAINT = "largest_contentful_paint_ms"
PARTS = {
    "time_to_first_byte_ms": "time to first byte",
    "lcp_resource_load_delay_ms": "resource load delay",
    "lcp_resource_load_duration_ms": "resource load duration",
    "lcp_element_render_delay_ms": "element render delay",
}
"""The parts' names in the field, in their order in time, by the metric of each."""

_TIMES = (PAINT, *PARTS)
_OF = "largest_contentful_paint_of"


@dataclass(frozen=True)
class PaintPart:
    """Milliseconds: means over sites of the sites' means, and their difference within blocks."""

    mean: float
    mean_reference: float
    difference: Estimate


@dataclass(frozen=True)
class NetworkPaint:
    """Largest Contentful Paint of one comparison on one network, and its parts.

    All are of the same blocks, so `parts` add up to `whole`: the means, and the differences.
    `blocks_without` is how many kept blocks are left out, because a load timed out or does not
    tell all parts; a site without any other is one of `sites_without`. In `blocks_of_two` of the
    blocks that count the two loads had different elements as their largest.
    """

    network: str
    stack: str
    reference: str
    sites: int
    sites_without: tuple[str, ...]
    blocks: int
    blocks_without: int
    blocks_of_two: int
    whole: PaintPart
    parts: Mapping[str, PaintPart]


def compare_paints(
    kept: pl.DataFrame,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
    *,
    may_stop: bool,
) -> list[NetworkPaint]:
    """Each comparison on each network that has a block in which both loads have all parts.

    The differences are those of `eyelevel.stats.repetitions.difference_over_sites`, in
    milliseconds; of a study that may stop early they have no interval, which would not allow for
    stopping.
    """
    paints = []
    rows = kept.select("network", "site", "repetition", "stack", *_TIMES, _OF)
    for asked in comparisons:
        of_stack, of_reference = (
            rows.filter(stack=name) for name in (asked.stack, asked.reference)
        )
        pairs = of_stack.join(of_reference, on=["network", "site", "repetition"], suffix="_r")
        for network in networks:
            own = pairs.filter(network=network)
            known = own.drop_nulls([*_TIMES, *(f"{name}_r" for name in _TIMES)])
            if known.height:
                paints.append(_paint(network, asked.stack, asked.reference, own, known))
    return [_as_stopped(paint) for paint in paints] if may_stop else paints


def _as_stopped(paint: NetworkPaint) -> NetworkPaint:
    def without_interval(part: PaintPart) -> PaintPart:
        return replace(part, difference=value_alone(part.difference))

    parts = {name: without_interval(part) for name, part in paint.parts.items()}
    return replace(paint, whole=without_interval(paint.whole), parts=parts)


def _paint(
    network: str, stack: str, reference: str, own: pl.DataFrame, known: pl.DataFrame
) -> NetworkPaint:
    x, r = (_by_site(known, [f"{name}{side}" for name in _TIMES]) for side in ("", "_r"))
    parts = {name: _part(x[at], r[at]) for at, name in enumerate(_TIMES)}
    absent = set(own["site"]) - set(known["site"])
    return NetworkPaint(
        network=network,
        stack=stack,
        reference=reference,
        sites=known["site"].n_unique(),
        sites_without=tuple(sorted(absent)),
        blocks=known.height,
        blocks_without=own.height - known.height,
        blocks_of_two=known.filter(pl.col(_OF).ne_missing(pl.col(f"{_OF}_r"))).height,
        whole=parts.pop(PAINT),
        parts=parts,
    )


def _part(x: Floats, r: Floats) -> PaintPart:
    mean, mean_reference = (float(np.nanmean(side, axis=1).mean()) for side in (x, r))
    return PaintPart(mean, mean_reference, difference_over_sites(x, r))


def _by_site(known: pl.DataFrame, columns: Sequence[str]) -> Floats:
    """Columns x sites x repetitions, not-a-number where there is no block."""
    (sites, row), (repetitions, column) = (
        np.unique(known[name].to_numpy(), return_inverse=True) for name in ("site", "repetition")
    )
    wide = np.full((len(columns), len(sites), len(repetitions)), np.nan)
    wide[:, row, column] = known.select(columns).to_numpy().T
    return wide
