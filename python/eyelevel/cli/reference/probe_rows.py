"""Generate the reference page of a probe's rows."""

from collections.abc import Mapping

from eyelevel.probes.export import COLUMNS
from eyelevel.probes.protocols import FAILURE_CLASSES, THESIS_NAMES


def reference_page() -> str:
    """Return the text of `docs/reference/probe-rows.md`."""
    columns = {name: meaning for name, (_, meaning) in COLUMNS.items()}
    lines = [
        "# Rows of a probe",
        "",
        "Times in `_us` are microseconds; anything that was not reached is null.",
        "[Probes and scans](probe.md) describes protocols, pairs of rows and `split_connection`.",
        "",
        *_table("column", "what it holds", columns),
        "",
        "## Classes of failure",
        "",
        "The list is closed. `failure_detail` is one line of the server or the system.",
        "",
        *_table("class", "what happened", FAILURE_CLASSES),
        "",
        "## Protocols",
        "",
        *_table("protocol", "in the thesis's CSV", THESIS_NAMES),
        "",
        "Written by `python -m eyelevel.cli.reference`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)


def _table(name: str, meaning: str, rows: Mapping[str, str]) -> list[str]:
    head = [f"| {name} | {meaning} |", "| --- | --- |"]
    return [*head, *(f"| `{each}` | {text} |" for each, text in rows.items())]
