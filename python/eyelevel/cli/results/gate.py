"""Parse a gate's conditions, and print and write its verdicts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal
from xml.etree import ElementTree

import typer

from eyelevel.analysis.gate import Condition, Status, Verdict, parse_condition
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.output import complain, print_json, results
from eyelevel.plan.plan import Plan
from eyelevel.store.disk import write_result

EXIT_CODES: dict[Status, int] = {
    "failed": 1,
    "disagrees": 1,
    "no verdict": 4,
    "inconclusive": 3,
    "cannot tell": 3,
    "agrees": 0,
    "passed": 0,
}
"""Exit status by verdict, the most severe first; the most severe verdict decides."""

Inconclusive = Literal["pass", "fail"]
InconclusiveOption = Annotated[
    Inconclusive | None,
    typer.Option(help="What an inconclusive result counts as; by default the exit status is 3."),
]

_TAGS: dict[Inconclusive | None, str] = {None: "error", "pass": "skipped", "fail": "failure"}
"""JUnit tag of an inconclusive case: GitLab and Jenkins distinguish errors from failures, and a
skipped case does not break a build.
"""


def read_conditions(texts: Sequence[str] | None, plan: Plan) -> list[Condition]:
    """Parse the conditions before the first load: a typo must not cost a run."""
    names = [[member.name for member in group] for group in (plan.stacks, plan.networks)]
    return [
        parse_condition(each, names[0], list(METRICS_BY_NAME), names[1]) for each in texts or []
    ]


def conclude(
    suite: str,
    verdicts: Sequence[Verdict],
    junit_file: Path | None,
    as_json: JsonObject | None = None,
    inconclusive: Inconclusive | None = None,
) -> None:
    """Print every verdict, write JUnit if requested, and exit with one line unless all pass."""
    if junit_file is not None:
        write_result(junit_file, junit(suite, verdicts, inconclusive))
    found = {verdict.status for verdict in verdicts}
    overall = next(status for status in EXIT_CODES if status in found or status == "passed")
    if as_json is not None:
        listed = [verdict.as_json() for verdict in verdicts]
        print_json(as_json | {"verdict": overall, "verdicts": listed})
    else:
        for verdict in verdicts:
            line = f"{verdict.status}: {verdict.message}"
            style = "bright_black" if verdict.status == "no verdict" else None
            results.print(line, style=style, markup=False, soft_wrap=True)
    if EXIT_CODES[overall] == 0 or (overall, inconclusive) == ("inconclusive", "pass"):
        return
    bad = [verdict for verdict in verdicts if verdict.status == overall]
    more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
    complain(f"{overall}: {bad[0].message}{more}")
    counted: Status = "failed" if (overall, inconclusive) == ("inconclusive", "fail") else overall
    raise typer.Exit(EXIT_CODES[counted])


def junit(suite: str, verdicts: Sequence[Verdict], inconclusive: Inconclusive | None = None) -> str:
    """Return JUnit XML with one test case per verdict.

    An inconclusive one is an error, or as set by `inconclusive`. A missing verdict is always an
    error: the two runs share no reference to compare with.
    """
    tags = {"failed": "failure", "inconclusive": _TAGS[inconclusive], "no verdict": "error"}
    found = [tags.get(each.status) for each in verdicts]
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    root = ElementTree.Element("testsuite", name=suite, tests=str(len(verdicts)))
    for name, tag in counts.items():
        root.set(name, str(found.count(tag)))
    for each, label in zip(verdicts, found, strict=True):
        case = ElementTree.SubElement(root, "testcase", classname="eyelevel", name=each.name)
        if label is None:
            ElementTree.SubElement(case, "system-out").text = each.message
        else:
            ElementTree.SubElement(case, label, message=f"{each.status}: {each.message}")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
