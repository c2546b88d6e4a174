"""How verdicts are printed, written and turned into an exit status."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import typer

from eyelevel.analysis.gate import Verdict
from eyelevel.cli.output import complain, print_json, results
from eyelevel.json_types import JsonObject

EXIT_FAILED = 1


def conclude(
    suite: str,
    verdicts: Sequence[Verdict],
    junit_file: Path | None,
    as_json: JsonObject | None = None,
) -> None:
    """Print every verdict, write JUnit if asked, exit 1 with one line unless all passed."""
    if junit_file is not None:
        junit_file.write_text(junit(suite, verdicts), encoding="utf-8")
    bad = [verdict for verdict in verdicts if verdict.status != "passed"]
    if as_json is not None:
        found = [verdict.as_json() for verdict in verdicts]
        print_json(as_json | {"passed": not bad, "verdicts": found})
    else:
        for verdict in verdicts:
            results.print(f"{verdict.status}: {verdict.message}", markup=False, soft_wrap=True)
    if bad:
        first = next((verdict for verdict in bad if verdict.status == "failed"), bad[0])
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        complain(f"{first.status}: {first.message}{more}")
        raise typer.Exit(EXIT_FAILED)


def junit(suite: str, verdicts: Sequence[Verdict]) -> str:
    """One test case a verdict; an undetermined one is an error, which is not a pass."""
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(verdicts)),
        failures=str(sum(each.status == "failed" for each in verdicts)),
        errors=str(sum(each.status == "undetermined" for each in verdicts)),
    )
    for each in verdicts:
        case = ElementTree.SubElement(root, "testcase", classname="eyelevel", name=each.name)
        if each.status == "failed":
            ElementTree.SubElement(case, "failure", message=each.message)
        elif each.status == "undetermined":
            ElementTree.SubElement(case, "error", message=each.message)
        else:
            ElementTree.SubElement(case, "system-out").text = each.message
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
