"""The page: one HTML file that needs no network and no other file, from a run's directory."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eyelevel.analysis.metrics.catalogue import measure
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.analysis.trials.facts import Measure
from eyelevel.base.json_types import JsonObject
from eyelevel.report.first_screen.opening import (
    opening,
    opening_json,
    overview_section,
    sites_overview_section,
)
from eyelevel.report.html import Markup, element
from eyelevel.report.page_data import PageData
from eyelevel.report.sections.charts import charts_section
from eyelevel.report.sections.cross_traffic import cross_traffic_json, cross_traffic_section
from eyelevel.report.sections.details import setup_json, setup_section
from eyelevel.report.sections.gains import (
    gain_details,
    gain_details_json,
    gains_json,
    gains_section,
)
from eyelevel.report.sections.level import level_json, level_section
from eyelevel.report.sections.level_distances import (
    level_distances_json,
    level_distances_section,
)
from eyelevel.report.sections.machines import machines_json, machines_section
from eyelevel.report.sections.methods import appendix_section, figures_section, methods_section
from eyelevel.report.sections.outcomes import outcomes_json, outcomes_section
from eyelevel.report.sections.robustness import robustness_json, sites_section
from eyelevel.report.sections.steps import steps_json, steps_section
from eyelevel.report.sections.why import (
    waterfall_json,
    waterfall_section,
    why_details,
    why_json,
    why_section,
)
from eyelevel.report.shell import shell
from eyelevel.store.disk import write_result

REPORT_FILE = "report.html"
SCRIPTS = ("tables.js", "filmstrips.js", "page.js")

REVIEWERS = "every table, test, setting and figure, methods, and the plan"

Html = Callable[[StudyResults, PageData], Markup]


def _empty_json(_: StudyResults) -> JsonObject:
    return {}


@dataclass(frozen=True)
class Section:
    """A part of the page, in the table's order, with its HTML and its JSON.

    Those `for_reviewers` are together in an element that unfolds. `html` is empty if there is
    nothing to report; it adds the charts for the script to the page's data. `json` has the
    section's keys of the report's JSON object.
    """

    name: str
    html: Html
    json: Callable[[StudyResults], JsonObject] = _empty_json
    for_reviewers: bool = True


def _text(section: Callable[[StudyResults], Markup]) -> Html:
    """Adapt a section that needs no script."""
    return lambda results, _: section(results)


SECTIONS: tuple[Section, ...] = (
    Section("opening", opening, opening_json, for_reviewers=False),
    Section("overview", overview_section, for_reviewers=False),
    Section(
        "level distances",
        _text(level_distances_section),
        level_distances_json,
        for_reviewers=False,
    ),
    Section("why", _text(why_section), why_json, for_reviewers=False),
    Section("waterfall", _text(waterfall_section), waterfall_json, for_reviewers=False),
    Section("site by site", sites_overview_section, for_reviewers=False),
    Section("gains", _text(gains_section), gains_json),
    Section("gain details", _text(gain_details), gain_details_json),
    Section("charts", charts_section),
    Section("why in parts", why_details),
    Section("sites", _text(sites_section), robustness_json),
    Section("steps", _text(steps_section), steps_json),
    Section("figures", figures_section),
    Section("cross traffic", _text(cross_traffic_section), cross_traffic_json),
    Section("outcomes", _text(outcomes_section), outcomes_json),
    Section("machines", _text(machines_section), machines_json),
    Section("setup", _text(setup_section), setup_json),
    Section("level", _text(level_section), level_json),
    Section("yardstick", _text(appendix_section)),
    Section("methods", _text(methods_section)),
)


def page(results: StudyResults) -> str:
    """Return the page as text."""
    data = PageData(results)
    parts = {section.name: section.html(results, data) for section in SECTIONS}
    at_once, collapsed = (
        [parts[section.name] for section in SECTIONS if section.for_reviewers == later]
        for later in (False, True)
    )
    summary = element("summary", element("h2", "For reviewers", id="reviewers"), " ", REVIEWERS)
    reviewers = element("details", summary, *collapsed, class_="reviewers")
    main = element("main", *at_once, reviewers)
    return shell(results.plan.title or "eyelevel report", main, data.as_data(), *SCRIPTS)


def summary_of(results: StudyResults) -> JsonObject:
    """Return the report as JSON (docs/reference/report.md).

    It has the run's counts, then each section's keys. Every estimate has the form of
    `Estimate.as_json`.
    """
    summary = {
        "title": results.plan.title,
        "plan_hash": results.plan_hash,
        "comparisons": [comparison.stated() for comparison in results.comparisons],
        "primary_metric": results.primary_metric,
        "trials": results.table.height,
        "trials_planned": results.trials_planned,
        "blocks_planned": results.blocks_planned,
    }
    for section in SECTIONS:
        summary |= section.json(results)
    return summary


def build_report(directory: Path, measured_by: Measure = measure, processes: int = 1) -> Path:
    """Write `DIR/report.html` from the records and documents in `directory`; return its path.

    Metrics are computed from the raw records by `eyelevel.analysis.metrics`, or by `measured_by`.
    The same directory gives the same page, byte for byte. Raises StoreError, naming the file, for a
    missing or damaged one; an older report is then left as it was.
    """
    return write_report(directory, read_results(directory, measured_by, processes))


def report_file(results: StudyResults) -> str:
    """Return the page's file name; post-hoc comparisons get a file beside the plan's own report."""
    if not results.declared:
        return REPORT_FILE
    reference = results.comparisons[0].reference.replace("/", "-")
    return f"report-against-{reference}.html"


def write_report(directory: Path, results: StudyResults) -> Path:
    """Write the page of a run that has been read, and return its path."""
    text = page(results)
    target = directory / report_file(results)
    write_result(target, text)
    return target
