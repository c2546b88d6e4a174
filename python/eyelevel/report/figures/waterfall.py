"""Waterfalls: the requests of a load over time, with the critical path of its largest paint.

Rows of the traces of typical loads: the bytes on the downlink over time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from eyelevel.analysis.answers import headline_network
from eyelevel.analysis.critical_path import critical_path
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.limits import LIMITS
from eyelevel.analysis.trials.waits import MEASURES, Downlink, downlink_of
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.report.charts.load_traces import downlink_chart
from eyelevel.report.figures.filmstrips import typical_loads

Span = tuple[float, float]

PHASES = ("queued", "dns", "connect", "tls", "wait", "receive")
"""The phases of a request in order. QUIC connects and agrees on keys at once, all as `tls`."""

LINES = {
    "first_contentful_paint_ms": "FCP",
    "largest_contentful_paint_ms": "LCP",
    "page_load_time_ms": "load",
}
"""The moments of the page that a waterfall marks, by their keys in a record's navigation."""


@dataclass(frozen=True)
class RequestBar:
    """One object's bar: its phases in ms after navigation start, without those that are empty."""

    url: str
    name: str
    """The label of the bar: the path's last part, or the host of a front page."""
    started_ms: float
    ended_ms: float
    phases: Mapping[str, Span]
    is_critical: bool
    protocol: str | None
    """The protocol that the browser reports; None if it reports none."""

    def as_json(self) -> JsonObject:
        """Return the bar as JSON."""
        phases = {name: list(span) for name, span in self.phases.items()}
        return {
            "url": self.url,
            "started_ms": self.started_ms,
            "ended_ms": self.ended_ms,
            "phases_ms": phases,
            "is_critical": self.is_critical,
            "protocol": self.protocol,
        }


@dataclass(frozen=True)
class Waterfall:
    """One load's bars in the order of their start."""

    stack: str
    trial: str
    lines: Mapping[str, float]
    """The moments in LINES, in ms, by their short names; without those that the page lacks."""
    bars: tuple[RequestBar, ...]
    left_out: int
    """The number of later objects that have no bar."""

    @property
    def protocols(self) -> Mapping[str, int]:
        """The number of bars by protocol."""
        return Counter(bar.protocol for bar in self.bars if bar.protocol is not None)

    @property
    def ended_ms(self) -> float:
        """The time at which the last bar or line ends, in ms."""
        return max([*self.lines.values(), *(bar.ended_ms for bar in self.bars)], default=0.0)

    def as_json(self) -> JsonObject:
        """Return the load as JSON."""
        return {
            "stack": self.stack,
            "trial": self.trial,
            "lines_ms": dict(self.lines),
            "objects": [bar.as_json() for bar in self.bars],
            "objects_left_out": self.left_out,
        }


@dataclass(frozen=True)
class WaterfallPair:
    """The waterfalls of two loads of one block, the reference's first."""

    site: str
    network: str
    repetition: int
    loads: tuple[Waterfall, ...]

    @property
    def ended_ms(self) -> float:
        """The end of the axis that both share, in ms, above zero."""
        return max([1.0, *(load.ended_ms for load in self.loads)])

    def as_json(self) -> JsonObject:
        """Return the two loads as JSON."""
        return {
            "site": self.site,
            "network": self.network,
            "repetition": self.repetition,
            "loads": [load.as_json() for load in self.loads],
        }


OBJECTS_MAX = 60  # per load; later ones rarely affect what users wait for


def waterfall_pair(results: StudyResults) -> WaterfallPair | None:
    """Return the first comparison's typical block on the headline's network.

    It is that of the first site with loads of both stacks there, or else on the next network that
    has one; None if no block has both, or if neither load has a bar.
    """
    if not results.comparisons:
        return None
    comparison, first = results.comparisons[0], headline_network(results)
    typical = typical_loads(results)
    for network in sorted(results.networks, key=lambda network: network != first):
        for site in results.sites:
            rows = typical.get((site, network), {})
            if not {comparison.stack, comparison.reference} <= rows.keys():
                continue
            loads = [
                waterfall_of(results.trial(rows[stack]["hash"]).record, OBJECTS_MAX)
                for stack in dict.fromkeys((comparison.reference, comparison.stack))
            ]
            pair = WaterfallPair(site, network, rows[comparison.stack]["repetition"], tuple(loads))
            return pair if any(load.bars for load in loads) else None
    return None


def waterfall_rows(results: StudyResults) -> pl.DataFrame:
    """Return the pair as rows: `load`, `place`, `name`, `phase`, `start_s`, `end_s`, `is_critical`.

    The moments of LINES have a null `place` and no duration.
    """
    pair = waterfall_pair(results)
    rows: list[tuple[object, ...]] = []
    for load in pair.loads if pair else ():
        title = f"{load.stack}, {pair.site} on {pair.network}" if pair else ""
        rows += [
            (title, None, line, "moment", ms / 1e3, ms / 1e3, False)
            for line, ms in load.lines.items()
        ]
        rows += [
            (title, place, bar.name, phase, start / 1e3, end / 1e3, bar.is_critical)
            for place, bar in enumerate(load.bars)
            for phase, (start, end) in bar.phases.items()
        ]
    names = ["load", "place", "name", "phase", "start_s", "end_s", "is_critical"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def waterfall_of(record: JsonMapping, objects_max: int) -> Waterfall:
    """Return the waterfall of a record's load, with the first `objects_max` of its objects.

    Objects from a cache, and those that never ended, have no bar.
    """
    objects: Sequence[JsonMapping] = record["objects"]
    navigation = record["navigation"] or {}
    paint_ms = navigation.get("largest_contentful_paint_ms")
    critical: set[int] = set()
    if paint_ms is not None:
        url = navigation.get("largest_contentful_paint_url")
        critical = set(critical_path(objects, paint_ms, url))
    known = [
        (item["started_ms"], place)
        for place, item in enumerate(objects)
        if item["from"] == "network" and item["finished_ms"] is not None
    ]
    known.sort()
    bars = [
        RequestBar(
            url=objects[place]["url"],
            name=_name(objects[place]["url"]),
            started_ms=objects[place]["started_ms"],
            ended_ms=objects[place]["finished_ms"],
            phases=_phases(objects[place]),
            is_critical=place in critical,
            protocol=objects[place]["protocol"],
        )
        for _, place in known[:objects_max]
    ]
    lines = {
        short: navigation[key] for key, short in LINES.items() if navigation.get(key) is not None
    }
    trial = record["trial"]
    return Waterfall(
        trial["stack"], trial["hash"], lines, tuple(bars), max(0, len(known) - objects_max)
    )


def _phases(item: JsonMapping) -> dict[str, Span]:
    """Return the spans of an object that are not empty."""
    connect, tls = item["connect_ms"], item["tls_ms"]
    finished_ms = item["finished_ms"]
    response_ms = finished_ms if item["response_ms"] is None else item["response_ms"]
    sending_ms = response_ms if item["sending_ms"] is None else item["sending_ms"]
    began = [span[0] for span in (item["lookup_ms"], connect, tls) if span]
    spans = {
        "queued": (item["started_ms"], min([*began, sending_ms])),
        "dns": item["lookup_ms"],
        "connect": connect and (connect[0], tls[0] if tls else connect[1]),
        "tls": tls,
        "wait": (sending_ms, response_ms),
        "receive": (response_ms, finished_ms),
    }
    return {name: (span[0], span[1]) for name, span in spans.items() if span and span[1] > span[0]}


def _name(url: str) -> str:
    parts = urlsplit(url)
    last = parts.path.rstrip("/").rpartition("/")[2]
    return last or parts.netloc


NETWORKS_MAX = 6  # per figure, in the plan's order
POINTS_MAX = 160  # per load: the resolution of a panel of 420 pixels
SILENCE_PX_MIN = 0.002  # as a share of the load: shorter ones are below a pixel


def downlink_levels(results: StudyResults) -> pl.DataFrame:
    """Return the downlink of the first site's typical loads, with no rows without timelines.

    The columns are `network`, `site`, `stack`, `hash`, `at_s` and `kilobytes`.
    """
    rows = [
        (network, site, stack, trial, at_ms / 1e3, level / 1e3)
        for network, site, stack, trial, downlink in _typical(results)
        for at_ms, level in _levels(downlink)
    ]
    names = ("network", "site", "stack", "hash", "at_s", "kilobytes")
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def downlink_figure(rows: pl.DataFrame, results: StudyResults) -> JsonObject:
    """Return the chart of `downlink_levels`; each panel has the title of its site and network."""
    title = pl.format("{} on {}", "site", "network").alias("network")
    silences = [
        (network, site, stack, start / 1e3, end / 1e3)
        for network, site, stack, _, downlink in _typical(results)
        for start, end in downlink.empty()
        if end - start > SILENCE_PX_MIN * downlink.load_ms
    ]
    names = ["network", "site", "stack", "start_s", "end_s"]
    gaps = pl.DataFrame(silences, schema=names, orient="row", infer_schema_length=None)
    first = results.sites[0]
    holds = [
        (network.name, first, what, kilobytes)
        for network in results.plan.networks
        for what, kilobytes in network.capacities_kb().items()
    ]
    schema = {"network": pl.String, "site": pl.String, "what": pl.String, "kilobytes": pl.Float64}
    limits = pl.DataFrame(holds, schema=schema, orient="row")
    levels, gaps, limits = (table.with_columns(title) for table in (rows, gaps, limits))
    return downlink_chart(levels, gaps, limits, results.stacks)


def downlink_medians(results: StudyResults) -> pl.DataFrame:
    """Return medians of MEASURES and LIMITS over sites' medians, by network and stack."""
    medians = pl.col(*MEASURES, *LIMITS).median()
    by_site = results.blocks.kept.group_by("network", "stack", "site").agg(medians)
    known = by_site.filter(pl.any_horizontal(pl.col(*MEASURES, *LIMITS).is_not_null()))
    over_sites = known.group_by("network", "stack").agg(pl.len().alias("sites"), medians)
    order = pl.DataFrame(
        [(network, stack) for network in results.networks for stack in results.stacks],
        schema=["network", "stack"],
        orient="row",
    )
    return order.join(over_sites, on=["network", "stack"], how="inner", maintain_order="left")


def _typical(results: StudyResults) -> list[tuple[str, str, str, str, Downlink]]:
    site = results.sites[0]
    typical = typical_loads(results, [site])
    loads = []
    for network in results.networks[:NETWORKS_MAX]:
        for stack, row in typical.get((site, network), {}).items():
            carried = downlink_of(results.trial(row["hash"]).record)
            if carried is not None:
                loads.append((network, site, stack, row["hash"], carried))
    return loads


def _levels(downlink: Downlink) -> list[tuple[float, float]]:
    """Return at most POINTS_MAX points, each the maximum of its intervals."""
    together = -(-downlink.on_the_way_bytes.size // POINTS_MAX)
    starts = np.arange(0, downlink.on_the_way_bytes.size, together)
    most = np.maximum.reduceat(downlink.on_the_way_bytes, starts)
    points = [
        (max(0.0, float(downlink.start_ms[start])), float(most_bytes))
        for start, most_bytes in zip(starts, most, strict=True)
    ]
    ended = float(downlink.start_ms[-1] + downlink.interval_ms)
    after = [(ended, 0.0)] if ended < downlink.load_ms else []
    before = [(0.0, 0.0)] if points[0][0] > 0 else []
    return [*before, *points, *after, (downlink.load_ms, after[0][1] if after else points[-1][1])]
