"""Rebuild a report from the records alone (`eyelevel report`)."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.formats import format_in_percent, format_number
from eyelevel.analysis.gains.against_itself import noise_sentences
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.metrics.catalogue import measure
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.analysis.trials.starvation import briefly
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.finish import OpenOption, end_at
from eyelevel.cli.output import print_json, results, table
from eyelevel.cli.results.markdown import markdown
from eyelevel.report.first_screen.changed_pages import changed
from eyelevel.report.first_screen.warnings import first_warnings
from eyelevel.report.page import summary_of, write_report
from eyelevel.report.sections.outcomes import describe_exclusions
from eyelevel.report.sections.why import explain_causes
from eyelevel.store.disk import check_file


@dataclass(frozen=True)
class Summary:
    """The values of a report that the command prints."""

    study: StudyResults
    path: Path

    def as_json(self) -> JsonObject:
        """Return the fields as documented in docs/reference/report.md."""
        return {"report": str(self.path), **summary_of(self.study)}


def report(
    directory: Annotated[Path, typer.Argument(help="The directory of a run.")],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="STACK",
            help="Compare every other stack with this one, in a separate page; by default as "
            "the plan declares.",
        ),
    ] = None,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the gains as JSON.")] = False,
    markdown_to: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            help="Also write the answer as Markdown, for a comment on a pull request.",
        ),
    ] = None,
    link: Annotated[
        str, typer.Option(metavar="URL", help="With --markdown: the address of the whole report.")
    ] = "",
) -> None:
    """Rebuild the report of a run from its records, and print its table."""
    if markdown_to is not None:
        check_file(markdown_to)
    summary = make_report(directory, against)
    if markdown_to is not None:
        markdown_to.write_text(markdown(summary.study, link), encoding="utf-8")
    if as_json:
        print_json(summary.as_json())
    else:
        print_summary(summary)
    end_at("report", summary.path, opens=open_, as_json=as_json)


def make_report(directory: Path, against: str | None = None) -> Summary:
    """Read the run and write its page.

    `against` is the reference of comparisons not in its plan.
    """
    study = read_results(directory, measure, len(os.sched_getaffinity(0)), against)
    return Summary(study, write_report(directory, study))


def print_summary(summary: Summary) -> None:
    """Print the table of gains by network, the answer, and the outcomes."""
    study = summary.study
    by_key = {(gain.network, gain.comparison, gain.metric): gain for gain in study.gains}
    heads = [str(comparison) for comparison in study.comparisons]
    first = [f"{head} {text}" for head, text in first_warnings(study)]
    for sentence in (*changed(study).sentences, *first):
        results.print(sentence, markup=False)
    style = "bright_black" if study.unfinished else None
    for network in study.networks:
        if why := study.too_disturbed.get(network):
            results.print(f"{network}: no gains; {briefly(why)}", markup=False, style=style)
            results.print()
            continue
        results.print(f"{network}: gain [95 % interval]; negative is faster", markup=False)
        listing = table("metric", *heads, right=tuple(heads))
        for metric in study.metrics:
            cells = [
                _cell(by_key.get((network, comparison, metric))) for comparison in study.comparisons
            ]
            listing.add_row(title_of(metric), *cells)
        results.print(listing, style=style)
        results.print()
    findings = summary_of(study)
    warnings = [warning for warning in findings["warnings"] if warning not in first]
    for sentence in findings["answer"]:
        for reason in study.too_disturbed.values():  # a warning has the details
            sentence = sentence.replace(reason, briefly(reason))
        results.print(sentence, markup=False, style=style)
    for sentence in (*noise_sentences(study.against_itself), *warnings):
        results.print(sentence, markup=False)
    for sentence in explain_causes(study):
        results.print(sentence, markup=False)
    for stack, counted in findings["outcomes"].items():
        text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items()))
        results.print(f"{stack}: {text or 'no loads'}", markup=False)
    if excluded := describe_exclusions(study):
        results.print(f"Exclusions: {excluded}", markup=False)


def _cell(gain: NetworkGain | None) -> str:
    """Return a gain with its interval in integer percents, to fit three stacks in 80 columns.

    For a score, and if a load's value is 0, it is the difference instead.
    """
    if gain is None:
        return "no data"
    if gain.is_absolute:
        unit = " ms" if gain.metric.endswith("_ms") else ""
        form = "+.0f" if unit else "+.3f"
        return _cell_of(gain.difference, lambda value: format_number(value, form), unit)
    return _cell_of(gain.gain, _format_whole, " %")


def _cell_of(estimate: Estimate, write: Callable[[float], str], unit: str = "") -> str:
    if estimate.value is None:
        return "undetermined"
    if estimate.low is None or estimate.high is None:
        return f"{write(estimate.value)}{unit}"
    value, low, high = map(write, (estimate.value, estimate.low, estimate.high))
    return f"{value}{unit} [{low}, {high}]"


def _format_whole(share: float) -> str:
    return format_in_percent(share, "+.0f")
