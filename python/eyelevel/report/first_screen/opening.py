"""The first screen: the question, the answer, its basis, and a pair of loads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from eyelevel.analysis.answers.headline import (
    NETWORKS_NAMED_MAX,
    ComparisonVerdicts,
    Verdict,
    comparison_verdicts,
    headline,
)
from eyelevel.analysis.answers.sentences import answers, further_answers
from eyelevel.analysis.claims import count_pairs, is_first_look
from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gains.against_itself import AgainstItself, noise_in_words
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.sensitivity import Sensitivity, sensitivities
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.stacks import stack_in_words
from eyelevel.plan.variants import stack_alone
from eyelevel.report.first_screen.changed_pages import Changed, changed
from eyelevel.report.first_screen.changed_since import Warning
from eyelevel.report.first_screen.filmstrips import first_pair
from eyelevel.report.first_screen.marks import RestsOn, rests_on
from eyelevel.report.first_screen.warnings import first_warnings, of_answer, warnings
from eyelevel.report.html import Markup
from eyelevel.report.page_data import PageData
from eyelevel.report.templates import render

STACKS_TOLD_MAX = 6
"""The most stacks that are described here; the settings of more are below."""
COLUMNS_MAX = 8  # networks; with more, there is a column per finding
INTERVALS_MAX = 8  # cells; of more, the chart below has the intervals
NOTHING = Markup("")


class Cell(NamedTuple):
    """The lines of a cell, top to bottom; empty text is left out."""

    head: str
    claim: str
    """`faster`, `slower` or empty; also the CSS class that colours the head."""
    size: str = ""
    interval: str = ""
    noise: str = ""
    """What the variants are found to differ by from themselves."""


class Row(NamedTuple):
    """A comparison's row of the table; a cell is None if it is empty."""

    comparison: str
    cells: tuple[Cell | None, ...]


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


def opening(contents: StudyResults, data: PageData) -> Markup:
    """Return the HTML of the first screen."""
    return render("opening", _opening(contents, first_pair(contents, data)))


def opening_json(contents: StudyResults) -> JsonObject:
    """Return the answer as JSON."""
    return _opening(contents).as_json()


def _opening(contents: StudyResults, pair: Markup = NOTHING) -> Opening:
    columns, rows = _table(comparison_verdicts(contents), contents.against_itself)
    return Opening(
        title=contents.plan["title"] or "How do the stacks compare?",
        first_warnings=tuple(first_warnings(contents)),
        headline=headline(contents),
        basis=_basis(contents),
        columns=columns,
        rows=rows if contents.cells else (),
        further=tuple(further_answers(contents)),
        limits=tuple(of_answer(contents)),
        is_first_look=is_first_look(contents),
        stacks=_stacks(contents),
        answer=tuple(map(str, answers(contents))),
        warnings=tuple(f"{head} {text}" for head, text in warnings(contents)),
        sensitivity=tuple(sensitivities(contents)),
        stopped=contents.stopped["reason"] if contents.stopped else None,
        unfinished=contents.unfinished or None,
        rests_on=rests_on(contents),
        changed=changed(contents),
        against_itself=_noise_json(contents),
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


def _cell(verdict: Verdict, shows_interval: bool, noise: str) -> Cell:
    interval = verdict.interval if shows_interval else ""
    return Cell(verdict.finding, verdict.claim, verdict.size, interval, noise)


def _findings(rows: Sequence[ComparisonVerdicts]) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Return a column per finding, with the names or the number of its networks."""
    findings = tuple(dict.fromkeys(name for row in rows for name in row.found()))
    table = []
    for row in rows:
        found = row.found()
        cells = [_networks(found[name]) if name in found else None for name in findings]
        table.append(Row(str(row.comparison), tuple(cells)))
    return findings, tuple(table)


def _networks(verdicts: Sequence[Verdict]) -> Cell:
    where = f"{len(verdicts)} networks"
    if len(verdicts) <= NETWORKS_NAMED_MAX:
        where = ", ".join(verdict.network for verdict in verdicts)
    return Cell(where, verdicts[0].claim)


def _noise_json(contents: StudyResults) -> JsonObject:
    found = [each.as_json() for each in contents.against_itself]
    return {"against_itself": found} if found else {}


def _basis(contents: StudyResults) -> str:
    """Return the basis of the table in words: metric, sites and loads."""
    sites, planned = len(contents.sites), int(contents.plan["blocks"])
    metric = title_of(contents.primary_metric)
    low, high = count_pairs(contents)
    loads = f"{low} to {high}" if low < high else str(high)
    if contents.may_stop:
        loads, high = f"at most {planned}", planned
    return (
        f"{metric} of {sites} {'site' if sites == 1 else 'sites'}, {loads} "
        f"{'load' if high == 1 else 'loads'} of each per stack and network, "
        f"with 95{NO_BREAK}% intervals"
    )


def _stacks(contents: StudyResults) -> str:
    """Return a description of the stacks, since readers may not know the names; "" for many."""
    # Variants are loaded with the same stacks, each of which is said once.
    stacks = {
        name: {**stack, "name": name}
        for stack in contents.plan["stacks"]
        for name in [stack_alone(stack["name"])]
    }
    if len(stacks) > STACKS_TOLD_MAX:
        return ""
    return f"{'; '.join(map(stack_in_words, stacks.values()))}."
