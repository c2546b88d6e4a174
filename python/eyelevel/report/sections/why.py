"""The section on why stacks differ.

It has the parts of each difference from counterfactual loads of the same blocks, the waits of the
verdict's metric, and traces of typical loads, which describe and explain nothing.

The waterfall: the requests of both loads of the first pair, on one time axis.
"""

import math
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.formats import NO_BREAK, format_number, format_percent, with_minus
from eyelevel.analysis.gains.causes import NetworkSplit
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.limits import LIMITS
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.causes import MEANINGS
from eyelevel.report.figures.catalogue import FIGURES, TRACES
from eyelevel.report.figures.waterfall import (
    PHASES,
    Waterfall,
    WaterfallPair,
    downlink_medians,
    waterfall_pair,
)
from eyelevel.report.html import (
    Markup,
    element,
    join,
    make_titled_section,
    render,
    table,
    with_code,
)
from eyelevel.report.page_data import PageData
from eyelevel.report.sections.time_parts import metric_paragraphs, time_parts, time_parts_json

NAMES = {
    "handshake": "handshakes",
    "window": "limit of the window",
    "think_time": "think time",
    "loss": "random loss",
}


TITLES = {
    "receive_gap_ms_max": "longest silence",
    "downlink_empty_share": "nothing in flight",
    "downlink_used_share": "rate used",
    "on_the_way_bytes_max": "most in flight",
    "receive_window_limited_ms": "browser's window full",
    "send_buffer_limited_ms": "send buffers empty",
    "unsent_bytes_max": "most unsent",
}


@dataclass(frozen=True)
class WhySection:
    """Sentences on the causes of each difference and on the waits of the verdict's metric.

    `brief` has those that fit a page: all of the first comparison, one of the next.
    """

    sentences: tuple[str, ...]
    brief: tuple[str, ...]

    def as_json(self) -> JsonObject:
        """Return the sentences as JSON."""
        return {"why": list(self.sentences)}


def why_section(results: StudyResults) -> Markup:
    """Return the section; empty if there are no sentences."""
    section = _section(results)
    return render("why", section) if section.sentences else Markup("")


def _section(results: StudyResults) -> WhySection:
    paragraphs = metric_paragraphs(results)
    brief = [" ".join(paragraphs[0]), *(each[0] for each in paragraphs[1:2])] if paragraphs else []
    causes = [] if results.unfinished else why_sentences(results.splits)
    return WhySection(tuple(explain_causes(results)), (*causes, *brief))


def why_details(results: StudyResults, data: PageData) -> Markup:
    """Return the parts by network and comparison, and traces of typical loads."""
    parts = [*_causes(results), time_parts(results), *_traces(results, data)]
    if not any(parts):
        return Markup("")
    return make_titled_section("parts", "Why, in parts", *parts)


def why_json(results: StudyResults) -> JsonObject:
    """Return the sentences, and the parts of each difference, as JSON."""
    return {
        **_section(results).as_json(),
        "causes": [_causes_json(split) for split in results.splits],
        **time_parts_json(results),
    }


def _causes_json(network_split: NetworkSplit) -> JsonObject:
    split = network_split.split
    parts = {"difference": split.difference, **split.causes}
    parts |= {"interaction": split.interaction, "remaining": split.remaining}
    return {
        "network": network_split.network,
        "stack": network_split.stack,
        "reference": network_split.reference,
        "parts_ms": {name: part.as_json() for name, part in parts.items()},
    }


def _causes(results: StudyResults) -> list[Markup]:
    if not results.splits:
        return []
    metric = title_of(results.primary_metric)
    columns = ["part", "ms", "95 % interval", "round trips"]
    tables = [
        table(
            join([element("strong", f"{split.stack} on {split.network}"), " ",
                  element("span", f"against {split.reference}")]),
            columns,
            _rows(split),
            class_="causes",
        )
        for split in results.splits
    ]  # fmt: skip
    causes = results.plan.causes
    assert causes is not None  # without them there are no splits
    meanings = "; ".join(f"{NAMES[name]}: {MEANINGS[name]}" for name in causes.names)
    note = (
        "Each stack also ran without each single cause and without all of them, in the same "
        f"blocks. A cause's part of the difference in {metric} is the difference with it minus "
        "the difference without it. The interaction is what all causes together contribute "
        "beyond the sum of the single ones; the remainder is the difference without any of "
        f"them. Without the causes: {meanings}. Intervals are not corrected for their number."
    )
    return [
        element("div", *tables, class_="pair"),
        element("p", note, class_="note"),
    ]


def explain_causes(results: StudyResults) -> list[str]:
    """Return the sentences on causes and waits; empty for an unfinished run."""
    if results.unfinished:
        return []
    return [*why_sentences(results.splits), *map(" ".join, metric_paragraphs(results))]


def why_sentences(splits: tuple[NetworkSplit, ...]) -> list[str]:
    """Return a sentence on the largest part of each difference whose interval excludes zero.

    If there is none, the sentence states that: the largest of parts that may all be noise is no
    cause.
    """
    sentences = []
    for network_split in splits:
        parts = {NAMES[name]: part for name, part in network_split.split.causes.items()}
        parts |= {
            "their interaction": network_split.split.interaction,
            "other causes": network_split.split.remaining,
        }
        certain = {name: part for name, part in parts.items() if part.excludes_zero}
        whole, subject = (
            network_split.split.difference,
            f"{network_split.comparison} on {network_split.network}",
        )
        if whole.value is None:
            sentences.append(f"{subject}: undetermined ({whole.reason}).")
            continue
        reach = f"95 % interval {_format_interval(whole)}" if whole.determined else whole.reason
        subject += f": {_format_ms(whole.value)} ({reach})"
        if not certain:
            sentences.append(f"{subject}, no part of which can be told apart from zero.")
            continue
        name, part = max(certain.items(), key=lambda one: abs(one[1].value or 0.0))
        value = part.value or 0.0
        sentences.append(
            f"{subject}, of which {_format_ms(value)} "
            f"({_format_interval(part)}){_format_rtts(value, network_split.rtt_ms)} is due to "
            f"{name}, the largest part that can be told apart from zero."
        )
    return sentences


def _format_interval(part: Estimate) -> str:
    return f"{_format_ms(part.low or 0.0)} to {_format_ms(part.high or 0.0)}"


def _rows(network_split: NetworkSplit) -> list[list[object]]:
    split = network_split.split
    parts = [(NAMES[name], part) for name, part in split.causes.items()]
    parts += [("interaction", split.interaction), ("remainder", split.remaining)]
    rows = [_row("difference", split.difference, network_split.rtt_ms)]
    return rows + [_row(name, part, network_split.rtt_ms) for name, part in parts]


def _row(name: str, part: Estimate, rtt_ms: float) -> list[object]:
    if part.value is None:
        return [name, "undetermined", part.reason, ""]
    reach = part.reason or "none"
    if part.low is not None and part.high is not None:
        reach = _format_interval(part)
    rtts = with_minus(f"{part.value / rtt_ms:+.2f}") if rtt_ms else "none"
    return [name, _format_ms(part.value), reach, rtts]


def _format_ms(value: float) -> str:
    return f"{format_number(value, '+.0f')}{NO_BREAK}ms"


def _format_rtts(value: float, rtt_ms: float) -> str:
    return f" or {abs(value) / rtt_ms:.2f} round trips" if rtt_ms else ""


def _traces(results: StudyResults, data: PageData) -> list[Markup]:
    """Return the table of the downlink's medians, and the charts of typical loads."""
    medians = downlink_medians(results)
    parts = [_traces_table(medians), _traces_note()] if medians.height else []
    charts = (data.place(figure) for figure in FIGURES if figure.name in TRACES)
    return [*parts, *(chart for chart in charts if chart is not None)]


def _traces_table(medians: pl.DataFrame) -> Markup:
    columns = ["network", "stack", *TITLES.values()]
    rows = [
        [row["network"], row["stack"], *(_format_trace(name, row[name]) for name in TITLES)]
        for row in medians.iter_rows(named=True)
    ]
    caption = "The downlink during a load: medians over sites of each site's median load"
    return table(caption, columns, rows, class_="cells")


def _traces_note() -> Markup:
    note = (
        "docs/reference/metrics.md defines these columns. They describe the loads; only loads "
        "without a cause (`causes` in a plan) say what it does."
    )
    return element("p", with_code(note), class_="note")


def _format_trace(name: str, value: float | None) -> str:
    if value is None:
        return "–" if name in LIMITS else "none"  # no connection reported this limit
    if name.endswith("_share"):
        return format_percent(value, signed=False)
    if name.endswith(("_ms_max", "_ms")):
        return f"{value:.0f}{NO_BREAK}ms"
    return f"{value / 1e3:.0f}{NO_BREAK}kB"


BARS_MAX = 50  # bars of both loads; more unfold
TICKS_MAX = 5
LABELLED = 0.9  # the share of the axis after which a label would not fit
MARGIN = 0.01
_WATERFALL_NAMES = {"dns": "DNS", "tls": "TLS"}


@dataclass(frozen=True)
class WaterfallSection:
    """The fields of the template for a pair of loads."""

    pair: WaterfallPair

    @property
    def is_open(self) -> bool:
        """Whether there are few enough bars to be open at once."""
        return sum(len(load.bars) for load in self.pair.loads) <= BARS_MAX

    @property
    def loads(self) -> tuple[Waterfall, ...]:
        """The loads, the reference's first."""
        return self.pair.loads

    @property
    def phases(self) -> tuple[tuple[str, str], ...]:
        """The phases with their titles, for the legend."""
        return tuple((name, _WATERFALL_NAMES.get(name, name)) for name in PHASES)

    @property
    def ticks(self) -> tuple[tuple[str, float], ...]:
        """The axis's labels, each with its time in ms."""
        least_ms = self.pair.ended_ms / TICKS_MAX
        power_ms = 10.0 ** math.floor(math.log10(least_ms))
        step_ms = next(step * power_ms for step in (1, 2, 5, 10) if step * power_ms >= least_ms)
        digits = max(0, 3 - math.floor(math.log10(step_ms)))
        places = range(math.floor(LABELLED * self.pair.ended_ms / step_ms) + 1)
        return tuple((f"{n * step_ms / 1e3:.{digits}f}", n * step_ms) for n in places)

    def percent(self, ms: float) -> str:
        """Return a time's position on the axis, which extends a little beyond the last line."""
        return f"{100 * max(0.0, ms) / (self.pair.ended_ms * (1 + MARGIN)):.2f}%"

    def as_json(self) -> JsonObject:
        """Return the loads as JSON."""
        return self.pair.as_json()


def waterfall_section(results: StudyResults) -> Markup:
    """Return the section; empty without a pair of loads."""
    pair = waterfall_pair(results)
    return Markup("") if pair is None else render("waterfall", WaterfallSection(pair))


def waterfall_json(results: StudyResults) -> JsonObject:
    """Return the loads as JSON; null without a pair of loads."""
    pair = waterfall_pair(results)
    return {"waterfall": None if pair is None else WaterfallSection(pair).as_json()}
