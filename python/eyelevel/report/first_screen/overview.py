"""The gains as one chart per comparison, over all sites and site by site."""

from collections.abc import Callable, Iterable

import polars as pl

from eyelevel.analysis.claims import CLAIMS, is_claimed, is_first_look, verdict_of
from eyelevel.analysis.formats import NO_BREAK, format_percent, format_signed_ms
from eyelevel.analysis.gains.cells import Cell, NetworkGain
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.report.charts.chart import gain_extent
from eyelevel.report.charts.overview import gains_overview, sites_overview
from eyelevel.report.html import Markup, element, titled_section
from eyelevel.report.page_data import PageData

NETWORKS_MAX = 24  # per chart; more are in the tables, and in a heat map
SITES_MAX = 40

NO_CLAIM = "no claim"
_GAIN = {"gain": pl.Float64, "gain_low": pl.Float64, "gain_high": pl.Float64}


def overview_section(contents: StudyResults, data: PageData) -> Markup:
    """Return the charts of every comparison's primary gains by network; colours are verdicts."""
    primary = [gain for gain in contents.gains if gain.metric == contents.primary_metric]
    networks = contents.networks[:NETWORKS_MAX]

    def chart(asked: Comparison) -> JsonObject | None:
        own = [gain for gain in primary if gain.comparison == asked and gain.network in networks]
        known = [gain for gain in own if gain.gain.value is not None]
        rows = [_gain_row(contents, gain) for gain in known]
        schema = {"network": pl.String, **_GAIN, "claim": pl.String, "said": pl.String}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        extent = _extent(gain.gain for gain in known)
        return gains_overview(table, [gain.network for gain in known], extent) if rows else None

    note = (
        f"{title_of(contents.primary_metric)}, 95{NO_BREAK}% interval. Left of zero is "
        "faster. Green and red are claims, corrected for all comparisons; grey is none."
    )
    if left_out := len(contents.networks) - len(networks):
        note += f" {left_out} more networks are in the tables."
    return _charts(contents, data, ("overview", "Gains", note), chart)


def sites_overview_section(contents: StudyResults, data: PageData) -> Markup:
    """Return the charts of every comparison's primary gains by site; empty for a single site."""
    sites = contents.sites[:SITES_MAX]
    if len(contents.sites) < 2:
        return Markup("")
    cells = [
        cell
        for cell in contents.cells
        if cell.metric == contents.primary_metric and cell.gain.value is not None
    ]

    def chart(asked: Comparison) -> JsonObject | None:
        own = [cell for cell in cells if cell.comparison == asked and cell.site in sites]
        schema = {"site": pl.String, "network": pl.String, **_GAIN}
        table = pl.DataFrame([_site_row(cell) for cell in own], schema=schema, orient="row")
        extent = _extent(cell.gain for cell in own)
        return sites_overview(table, sites, contents.networks, extent) if own else None

    note = "Each site's own interval, not corrected for their number: where to look."
    if left_out := len(contents.sites) - len(sites):
        note += f" {left_out} more sites are in the tables."
    return _charts(contents, data, ("site-by-site", "Site by site", note), chart)


def _charts(
    contents: StudyResults,
    data: PageData,
    words: tuple[str, str, str],
    chart: Callable[[Comparison], JsonObject | None],
) -> Markup:
    identity, title, note = words
    figures = []
    for index, asked in enumerate(contents.comparisons):
        specification = chart(asked)
        if specification is None:
            continue
        place = f"{identity}-{index}"
        data.specifications[place] = specification
        label = f"Chart: {title.lower()}, {asked}; the numbers are in the tables for reviewers"
        picture = element("div", id=place, class_="chart", role="img", aria_label=label)
        figures.append(element("figure", element("figcaption", str(asked)), picture))
    if not figures:
        return Markup("")
    return titled_section(
        identity,
        title,
        element("div", *figures, class_="pair first-look" if is_first_look(contents) else "pair"),
        element("p", note, class_="note"),
    )


def _gain_row(contents: StudyResults, gain: NetworkGain) -> tuple[object, ...]:
    claim = verdict_of(contents, gain) if is_claimed(contents, gain) else NO_CLAIM
    assert claim in (*CLAIMS, NO_CLAIM)
    value = gain.gain.value or 0.0
    said = format_percent(value)
    difference = gain.difference.value
    if difference is not None and round(difference) and gain.metric.endswith("_ms"):
        said += f", {format_signed_ms(difference, float('inf'))}"
    return gain.network, value, gain.gain.low, gain.gain.high, claim, said


def _site_row(cell: Cell) -> tuple[object, ...]:
    return cell.site, cell.network, cell.gain.value, cell.gain.low, cell.gain.high


def _extent(gains: Iterable[Estimate]) -> tuple[float, float]:
    return gain_extent((gain.value, gain.low, gain.high) for gain in gains)
