"""Writes docs/benchmarks.md from the tables in benchmarks/results.

`bounds.csv` has one row per bound. Each other file is one measured table of the part that its
folder names; the comments at its top state what it shows and how it was measured. `--check` writes
nothing and reports whether the page is stale.
"""

import csv
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.arguments import ROOT, flag_asked

PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
PARTS = {
    "path": "The emulated path",
    "replay": "The replay servers",
    "sites": "Recorded sites",
    "stacks": "The stacks",
    "browser": "The browser",
    "level": "The level",
    "live": "Live loads",
    "probe": "The prober",
    "run": "A run",
    "report": "The report",
    "statistics": "The statistics",
    "cluster": "Many machines",
    "papers": "The papers",
    "fuzz": "Fuzzing",
    "tests": "The tests",
}
"""Headings by the names of folders, in the page's order."""
INTRODUCTION = """\
# Benchmarks

What eyelevel costs and how exact it is: one row per bound, with today's figure and the command
that measures it. Commands run from the repository's root after `make setup`, with `.venv`
activated; `--help` describes what each prints. Tests never assert these figures. A shared machine
is noisy, so ratios are worth more than single figures.

Figures are medians of interleaved runs on two cores of an Intel Xeon in nested virtual machines
with 24 GB (machine X) or of an AMD EPYC (machine E), both with Debian 12, Linux 6.18, Chromium
156, Firefox ESR 153, BBR as the system's default, no netem and no fq.
`benchmarks/results/bounds.csv` has the date, machine and load average of each row; each table has
them in its first lines. A gain is the change of the first stack against the second; negative
means sooner.

`python -m scripts.docs.benchmarks_page` writes this page from these files: to record a new
figure, edit the file and run it.
"""


@dataclass(frozen=True)
class Table:
    """A measured table: the facts in the comments at its top, its heading and rows."""

    facts: dict[str, str]
    rows: list[list[str]]

    @classmethod
    def read(cls, file: Path) -> "Table":
        """Read a CSV file whose first lines are comments `# FACT: VALUE`."""
        lines = file.read_text(encoding="utf-8").splitlines()
        notes = [line[2:].partition(": ") for line in lines if line.startswith("# ")]
        rows = list(csv.reader(line for line in lines if not line.startswith("# ")))
        return cls({fact: value for fact, _, value in notes}, rows)


def tables() -> dict[str, Table]:
    """Return each measured table by its path below the folder of results, as `path/ping.csv`."""
    files = sorted(RESULTS.glob("*/*.csv"))
    return {str(file.relative_to(RESULTS)): Table.read(file) for file in files}


def bounds() -> list[dict[str, str]]:
    """Return the rows of `bounds.csv`."""
    with (RESULTS / "bounds.csv").open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def page_text() -> str:
    """Return the text of the page."""
    measured = tables()
    blocks = [INTRODUCTION]
    for part, heading in PARTS.items():
        blocks.append(f"## {heading}\n")
        rows = [each for each in bounds() if each["part"] == part]
        if rows:
            cells = ([r["what"], r["asked"], r["measured"], f"`{r['command']}`"] for r in rows)
            blocks.append(_table(["what", "asked", "measured", "command"], cells))
        own = {path: each for path, each in measured.items() if path.startswith(f"{part}/")}
        lines = [f"- `{Path(path).name}`: {each.facts['finding']}" for path, each in own.items()]
        blocks.append("\n".join([f"Tables in `benchmarks/results/{part}`:\n", *lines, ""]))
    return "\n".join(blocks)


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> int:
    """Write the page, or with `--check` compare it; the exit status is 1 if it is stale."""
    is_check = flag_asked(__doc__, "--check", "write nothing; exit with 1 if the page is stale")
    text = page_text()
    if not is_check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/benchmarks.md is stale: run `python -m scripts.docs.benchmarks_page`")
    return 1


if __name__ == "__main__":
    sys.exit(main())
