"""The first screen: the question, the answer, its basis, and a pair of loads.

Two loads of one typical block side by side at one moment, and their filmstrips. The gains as one
chart per comparison, over all sites and site by site.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from eyelevel.analysis.answers import (
    NETWORKS_NAMED_MAX,
    ComparisonVerdicts,
    Verdict,
    answers,
    comparison_verdicts,
    further_answers,
    headline,
    headline_network,
)
from eyelevel.analysis.claims import CLAIMS, count_pairs, is_claimed, is_first_look, verdict_of
from eyelevel.analysis.formats import NO_BREAK, format_percent, format_signed_ms
from eyelevel.analysis.gains.against_itself import AgainstItself, noise_in_words
from eyelevel.analysis.gains.cells import Cell, NetworkGain
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.sensitivity import Sensitivity, sensitivities
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.stacks import stack_in_words
from eyelevel.plan.variants import stack_alone
from eyelevel.report.charts.chart import gain_extent
from eyelevel.report.charts.distribution import gains_overview, sites_overview
from eyelevel.report.first_screen.changed_pages import Changed, changed
from eyelevel.report.first_screen.marks import RestsOn, rests_on
from eyelevel.report.first_screen.warnings import Warning, answer_warnings, first_warnings, warnings
from eyelevel.report.html import Markup, element, make_titled_section, render
from eyelevel.report.page_data import PageData

LISTED_STACKS_MAX = 6
"""The most stacks that are described here; the settings of more are below."""
COLUMNS_MAX = 8  # networks; with more, there is a column per finding
INTERVALS_MAX = 8  # cells; of more, the chart below has the intervals
NOTHING = Markup("")


class VerdictCell(NamedTuple):
    """The lines of a cell, top to bottom; empty text is left out."""

    head: str
    claim: str
    """`faster`, `slower` or empty; also the CSS class that colours the head."""
    size: str = ""
    interval: str = ""
    noise: str = ""
    """The A/A results of the variants."""


class Row(NamedTuple):
    """A comparison's row of the table; a cell is None if it is empty."""

    comparison: str
    cells: tuple[VerdictCell | None, ...]


@dataclass(frozen=True)
class Opening:
    """The content of the first screen, top to bottom."""

    title: str
    first_warnings: tuple[Warning, ...]
    headline: str
    basis: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    further: tuple[str, ...]
    limits: tuple[Warning, ...]
    is_first_look: bool
    stacks: str
    answer: tuple[str, ...]
    warnings: tuple[str, ...]
    sensitivity: tuple[Sensitivity, ...]
    stopped: str | None
    unfinished: str | None
    rests_on: RestsOn
    changed: Changed
    against_itself: JsonObject
    """The noise of each comparison of variants for programs; empty without variants."""
    pair: Markup = NOTHING

    def as_json(self) -> JsonObject:
        """Return the answer as JSON; verdicts with their numbers are among the gains."""
        return {
            "headline": self.headline,
            "answer": list(self.answer),
            "is_first_look": self.is_first_look,
            "stopped": self.stopped,
            "unfinished": self.unfinished,
            "warnings": list(self.warnings),
            "sensitivity": [each.as_json() for each in self.sensitivity],
            "rests_on": self.rests_on.as_json(),
            **self.changed.as_json(),
            **self.against_itself,
        }


def opening(results: StudyResults, data: PageData) -> Markup:
    """Return the HTML of the first screen."""
    return render("opening", _opening(results, _first_pair(results, data)))


def opening_json(results: StudyResults) -> JsonObject:
    """Return the answer as JSON."""
    return _opening(results).as_json()


def _opening(results: StudyResults, pair: Markup = NOTHING) -> Opening:
    columns, rows = _table(comparison_verdicts(results), results.against_itself)
    return Opening(
        title=results.plan.title or "How do the stacks compare?",
        first_warnings=tuple(first_warnings(results)),
        headline=headline(results),
        basis=_basis(results),
        columns=columns,
        rows=rows if results.cells else (),
        further=tuple(further_answers(results)),
        limits=tuple(answer_warnings(results)),
        is_first_look=is_first_look(results),
        stacks=_stacks(results),
        answer=tuple(map(str, answers(results))),
        warnings=tuple(f"{head} {text}" for head, text in warnings(results)),
        sensitivity=tuple(sensitivities(results)),
        stopped=results.stopped["reason"] if results.stopped else None,
        unfinished=results.unfinished or None,
        rests_on=rests_on(results),
        changed=changed(results),
        against_itself=_noise_json(results),
        pair=pair,
    )


def _table(
    rows: Sequence[ComparisonVerdicts], noise: Sequence[AgainstItself]
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Return networks and the comparisons' verdicts, or with many networks their findings."""
    networks = tuple(dict.fromkeys(cell.network for row in rows for cell in row.verdicts))
    if len(networks) > COLUMNS_MAX:
        return _findings(rows)
    shows_intervals = len(networks) * len(rows) <= INTERVALS_MAX
    table = []
    for row in rows:
        cells = {
            each.network: _cell(
                each, shows_intervals, noise_in_words(noise, each.network, row.comparison)
            )
            for each in row.verdicts
        }
        table.append(Row(str(row.comparison), tuple(map(cells.get, networks))))
    return networks, tuple(table)


def _cell(verdict: Verdict, shows_interval: bool, noise: str) -> VerdictCell:
    interval = verdict.interval if shows_interval else ""
    return VerdictCell(verdict.finding, verdict.claim, verdict.size, interval, noise)


def _findings(rows: Sequence[ComparisonVerdicts]) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Return a column per finding, with the names or the number of its networks."""
    findings = tuple(dict.fromkeys(name for row in rows for name in row.found()))
    table = []
    for row in rows:
        found = row.found()
        cells = [_networks(found[name]) if name in found else None for name in findings]
        table.append(Row(str(row.comparison), tuple(cells)))
    return findings, tuple(table)


def _networks(verdicts: Sequence[Verdict]) -> VerdictCell:
    where = f"{len(verdicts)} networks"
    if len(verdicts) <= NETWORKS_NAMED_MAX:
        where = ", ".join(verdict.network for verdict in verdicts)
    return VerdictCell(where, verdicts[0].claim)


def _noise_json(results: StudyResults) -> JsonObject:
    found = [each.as_json() for each in results.against_itself]
    return {"against_itself": found} if found else {}


def _basis(results: StudyResults) -> str:
    """Return the basis of the table in words: metric, sites and loads."""
    sites, planned = len(results.sites), results.plan.blocks
    metric = title_of(results.primary_metric)
    low, high = count_pairs(results)
    loads = f"{low} to {high}" if low < high else str(high)
    if results.may_stop:
        loads, high = f"at most {planned}", planned
    return (
        f"{metric} of {sites} {'site' if sites == 1 else 'sites'}, {loads} "
        f"{'load' if high == 1 else 'loads'} of each per stack and network, "
        f"with 95{NO_BREAK}% intervals"
    )


def _stacks(results: StudyResults) -> str:
    """Return a description of the stacks, since readers may not know the names; "" for many."""
    # Variants are loaded with the same stacks, each of which is labelled once.
    stacks = {
        name: replace(stack, name=name)
        for stack in results.plan.stacks
        for name in [stack_alone(stack.name)]
    }
    if len(stacks) > LISTED_STACKS_MAX:
        return ""
    return f"{'; '.join(map(stack_in_words, stacks.values()))}."


@dataclass(frozen=True)
class FirstPair:
    """The initial selection of the page's script, and the alternatives."""

    sites: tuple[str, ...]
    networks: tuple[str, ...]
    stacks: tuple[str, ...]
    site: str
    network: str
    first: str
    second: str
    metric: str
    left_out: int


def _first_pair(results: StudyResults, data: PageData) -> Markup:
    """Return the loads of the first comparison on the headline's network, from time zero on."""
    strips = data.filmstrips
    if not strips.strips or not results.comparisons:
        return element("p", "No frames were kept for the loads that count.", class_="note")
    comparison, named = results.comparisons[0], headline_network(results)
    networks = tuple(dict.fromkeys(strip["network"] for strip in strips.strips))
    network = named if named in networks else networks[0]
    pair = FirstPair(
        sites=tuple(dict.fromkeys(strip["site"] for strip in strips.strips)),
        networks=networks,
        stacks=tuple(results.stacks),
        site=next(strip["site"] for strip in strips.strips if strip["network"] == network),
        network=network,
        first=comparison.reference,
        second=comparison.stack,
        metric=title_of(results.primary_metric),
        left_out=strips.left_out,
    )
    return render("pair", pair)


NETWORKS_MAX = 24  # per chart; more are in the tables, and in a heat map
SITES_MAX = 40

NO_CLAIM = "no claim"
_GAIN = {"gain": pl.Float64, "gain_low": pl.Float64, "gain_high": pl.Float64}


def overview_section(results: StudyResults, data: PageData) -> Markup:
    """Return the charts of every comparison's primary gains by network; colours are verdicts."""
    primary = [gain for gain in results.gains if gain.metric == results.primary_metric]
    networks = results.networks[:NETWORKS_MAX]

    def chart(comparison: Comparison) -> JsonObject | None:
        own = [
            gain for gain in primary if gain.comparison == comparison and gain.network in networks
        ]
        known = [gain for gain in own if gain.gain.value is not None and not gain.is_absolute]
        rows = [_gain_row(results, gain) for gain in known]
        schema = {"network": pl.String, **_GAIN, "claim": pl.String, "label": pl.String}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        extent = _extent(gain.gain for gain in known)
        return gains_overview(table, [gain.network for gain in known], extent) if rows else None

    note = (
        f"{title_of(results.primary_metric)}, 95{NO_BREAK}% interval. Left of zero is "
        "faster. Green and red are claims, corrected for all comparisons; grey is none."
    )
    if left_out := len(results.networks) - len(networks):
        note += f" {left_out} more networks are in the tables."
    return _charts(results, data, ("overview", "Gains", note), chart)


def sites_overview_section(results: StudyResults, data: PageData) -> Markup:
    """Return the charts of every comparison's primary gains by site; empty for a single site."""
    sites = results.sites[:SITES_MAX]
    if len(results.sites) < 2:
        return Markup("")
    cells = [
        cell
        for cell in results.cells
        if cell.metric == results.primary_metric and cell.gain.value is not None
    ]

    def chart(comparison: Comparison) -> JsonObject | None:
        own = [cell for cell in cells if cell.comparison == comparison and cell.site in sites]
        schema = {"site": pl.String, "network": pl.String, **_GAIN}
        table = pl.DataFrame([_site_row(cell) for cell in own], schema=schema, orient="row")
        extent = _extent(cell.gain for cell in own)
        return sites_overview(table, sites, results.networks, extent) if own else None

    note = "Each site's own interval, not corrected for their number: where to look."
    if left_out := len(results.sites) - len(sites):
        note += f" {left_out} more sites are in the tables."
    return _charts(results, data, ("site-by-site", "Site by site", note), chart)


def _charts(
    results: StudyResults,
    data: PageData,
    words: tuple[str, str, str],
    chart: Callable[[Comparison], JsonObject | None],
) -> Markup:
    identity, title, note = words
    figures = []
    for index, comparison in enumerate(results.comparisons):
        specification = chart(comparison)
        if specification is None:
            continue
        place = f"{identity}-{index}"
        data.specifications[place] = specification
        label = f"Chart: {title.lower()}, {comparison}; the numbers are in the tables for reviewers"
        picture = element("div", id=place, class_="chart", role="img", aria_label=label)
        figures.append(element("figure", element("figcaption", str(comparison)), picture))
    if not figures:
        return Markup("")
    return make_titled_section(
        identity,
        title,
        element("div", *figures, class_="pair first-look" if is_first_look(results) else "pair"),
        element("p", note, class_="note"),
    )


def _gain_row(results: StudyResults, gain: NetworkGain) -> tuple[object, ...]:
    claim = verdict_of(results, gain) if is_claimed(results, gain) else NO_CLAIM
    assert claim in (*CLAIMS, NO_CLAIM)
    value = gain.gain.value or 0.0
    text = format_percent(value)
    difference = gain.difference.value
    if difference is not None and round(difference) and gain.metric.endswith("_ms"):
        text += f", {format_signed_ms(difference, float('inf'))}"
    return gain.network, value, gain.gain.low, gain.gain.high, claim, text


def _site_row(cell: Cell) -> tuple[object, ...]:
    return cell.site, cell.network, cell.gain.value, cell.gain.low, cell.gain.high


def _extent(gains: Iterable[Estimate]) -> tuple[float, float]:
    return gain_extent((gain.value, gain.low, gain.high) for gain in gains)
