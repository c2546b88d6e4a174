"""`eyelevel report`: rebuild the report from the records alone."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from eyelevel.cli.output import print_json, results, table
from eyelevel.metrics import METRICS_BY_NAME
from eyelevel.report import Contents, metrics_of, read_contents, write_report
from eyelevel.report.words import answer, interval, percent
from eyelevel.stats import NetworkGain


@dataclass(frozen=True)
class Summary:
    """What the command prints of a report."""

    contents: Contents
    path: Path

    def as_json(self) -> dict[str, Any]:
        """The documented shape: report, outcomes, gains (docs/reference/report.md)."""
        return {
            "report": str(self.path),
            "reference": self.contents.plan["reference"],
            "primary_metric": self.contents.plan["primary_metric"],
            "outcomes": outcomes(self.contents),
            "gains": [asdict(gain) for gain in self.contents.gains],
        }


def report(
    directory: Annotated[Path, typer.Argument(help="The directory of a run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the gains as JSON.")] = False,
) -> None:
    """Rebuild the report of a run from its records, and print its table."""
    summary = make_report(directory)
    if as_json:
        print_json(summary.as_json())
    else:
        print_summary(summary)


def make_report(directory: Path) -> Summary:
    """Read the run, write its page."""
    contents = read_contents(directory, metrics_of)
    return Summary(contents, write_report(directory, contents))


def outcomes(contents: Contents) -> dict[str, dict[str, int]]:
    """How many loads of each stack ended how."""
    counted: dict[str, dict[str, int]] = {arm: {} for arm in contents.arms}
    for arm, outcome in contents.table.select("arm", "outcome").iter_rows():
        counted[arm][outcome] = counted[arm].get(outcome, 0) + 1
    return counted


def print_summary(summary: Summary) -> None:
    """The table of gains by network, the answer, the outcomes, the page's path."""
    contents = summary.contents
    by_key = {(gain.network, gain.arm, gain.metric): gain for gain in contents.gains}
    reference, others = contents.plan["reference"], contents.arms[1:]
    for network in contents.networks:
        made = table(
            "metric", *others, title=f"{network}: gain against {reference}", right=tuple(others)
        )
        for metric in contents.metrics:
            cells = [_cell(by_key.get((network, arm, metric))) for arm in others]
            made.add_row(METRICS_BY_NAME[metric].title, *cells)
        results.print(made)
        results.print()
    plan = contents.plan
    for sentence in answer(
        contents.gains, reference, plan["primary_metric"], plan["smallest_effect_of_interest"]
    ):
        results.print(sentence, markup=False)
    for arm, counted in outcomes(contents).items():
        text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items()))
        results.print(f"{arm}: {text or 'no loads'}", markup=False)
    results.print(f"report: {summary.path}", markup=False, soft_wrap=True)


def _cell(gain: NetworkGain | None) -> str:
    if gain is None or gain.gain.value is None:
        return gain.gain.reason if gain is not None and gain.gain.reason else "no data"
    if gain.gain.low is None:
        return percent(gain.gain.value)
    return f"{percent(gain.gain.value)} ({interval(gain.gain)})"
