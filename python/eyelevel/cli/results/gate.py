"""How verdicts are printed, written and turned into an exit status."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from eyelevel.analysis.gate import Verdict
from eyelevel.cli.output import complain, print_json, results
from eyelevel.report.export.junit import junit

EXIT_FAILED = 1


def conclude(
    suite: str,
    verdicts: Sequence[Verdict],
    junit_file: Path | None,
    as_json: dict[str, Any] | None = None,
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
