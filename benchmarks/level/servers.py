"""Measure report cards of servers: `python -m benchmarks.level.servers [NAME ...]`.

Needs root and a quiet machine, five minutes a server; without names it measures all that are there.
`eyelevel server check` measures each anew; `--continue` adds runs to those of the last time, of the
same version. The aspects are the rows of `benchmarks/results/level/report-cards.csv`, and these the
tables of a page beside docs/reference/level.md, which its index has to name once. A card with more
unknown aspects than others is printed and not kept: the machine was disturbed.
"""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime

from benchmarks.shared.command import machine, parser_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.errors import ExpectedError
from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.report_card import VERSION_NAMES, format_interval
from eyelevel.calibration.level.value_text import format_value
from eyelevel.load.servers.known import INTEROP, PROGRAMS, find_program, find_version
from eyelevel.load.servers.recipes import RECIPES
from scripts.arguments import ROOT

TABLE = ROOT / "benchmarks/results/level/report-cards.csv"
PAGE = ROOT / "docs/reference" / "servers.md"
UNKNOWN = "unknown"
INTRODUCTION = """\
# Servers

What `eyelevel server check` found of servers that others wrote, against the level stack of the same
protocol. [The guide](../guides/is-it-http3.md#what-about-it-a-report-card) has the grades' meaning;
a difference is the server's value less the level stack's, with its 95 % interval. They are
configured as the [recipes](../guides/external-server.md#recipes) are, and another version or
configuration is another server.

`python -m benchmarks.level.servers` writes this page.
"""


@dataclass(frozen=True)
class Row:
    """One aspect of a server over one HTTP version, as text."""

    server: str
    version: str
    date: str
    machine: str
    protocol: str
    aspect: str
    network: str
    grade: str
    measured: str
    level: str
    difference: str


HEAD = tuple(each.name for each in fields(Row))


def list_rows(
    server: str, version: str, date: str, state: str, findings: Iterable[JsonMapping]
) -> list[Row]:
    """Return the rows of a report card, whose findings are those of `--json`."""
    return [
        Row(
            server,
            version,
            date,
            state,
            VERSION_NAMES[each["version"]],
            each["aspect"],
            each["network"],
            each["grade"],
            format_value(each["server"], each["unit"]),
            format_value(each["level"], each["unit"]),
            _interval(each["difference"], each["unit"]),
        )
        for each in findings
    ]


def _interval(difference: JsonMapping, unit: str) -> str:
    found = Estimate.of_json(difference)
    return format_interval(found, unit) if found.determined else ""


def is_disturbed(rows: Sequence[Row]) -> bool:
    """Return whether more aspects stayed unknown than did not."""
    return sum(row.grade == UNKNOWN for row in rows) * 2 > len(rows)


def replace_rows(kept: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Return the rows of all servers in order; those measured now replace their earlier ones."""
    names = {row.server for row in new}
    both = [*(row for row in kept if row.server not in names), *new]
    return sorted(both, key=lambda row: row.server)


def format_table(rows: Sequence[Row], command: str) -> str:
    """Return the text of the measured table."""
    out = io.StringIO()
    servers = ", ".join(dict.fromkeys(f"{row.server} {row.version}" for row in rows))
    out.write(f"# finding: Report cards of {servers}.\n# command: {command}\n")
    out.write(f"# date: {max(row.date for row in rows)}\n# machine: in the rows\n")
    out.write("# load average: of each server when its card began, in its rows\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(astuple(row) for row in rows)
    return out.getvalue()


def format_page(rows: Sequence[Row]) -> str:
    """Return the text of the page: a table for each server."""
    parts = [INTRODUCTION]
    for server in dict.fromkeys(row.server for row in rows):
        own = [row for row in rows if row.server == server]
        lines = [
            ("protocol", "aspect", "network", "grade", server, "level", "difference, 95 %"),
            ("---",) * 7,
            *(astuple(row)[HEAD.index("protocol") :] for row in own),
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        facts = f"{own[0].version}; {own[0].date}, {own[0].machine}."
        parts.append(f"## {server}\n\n{facts}\n\n{table}\n")
    return "\n".join(parts)


def read_table() -> list[Row]:
    """Return the rows that are kept; none if there is no table yet."""
    if not TABLE.exists():
        return []
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("# ")]
    return [Row(**row) for row in csv.DictReader(lines)]


def check(name: str, *, is_continued: bool) -> list[JsonMapping]:
    """Return the findings of `eyelevel server check NAME`, none if it could not be measured."""
    program = [sys.executable, "-m", "eyelevel.cli.main", "server", "check", name, "--json"]
    done = subprocess.run(
        [*program, *([] if is_continued else ["--fresh"])],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1) or not done.stdout:
        return []
    found: list[JsonMapping] = json.loads(done.stdout)["findings"]
    return found


def main() -> int:
    """Check the servers and write what was measured; return 1 if a card could not be kept."""
    names = [name for name in RECIPES if name != INTEROP]
    parser = parser_of(__doc__)
    parser.add_argument("servers", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--continue", dest="is_continued", action="store_true")
    arguments = parser.parse_args()
    if others := sorted({*arguments.servers} - {*names}):
        parser.error(f"{', '.join(others)}: choose among {', '.join(names)}")
    command = " ".join(["python -m benchmarks.level.servers", *arguments.servers])
    failed = False
    for name in arguments.servers or names:
        try:
            if find_program(PROGRAMS[name]) is None:
                print(f"{name} is not installed: {PROGRAMS[name].get}")
                failed |= bool(arguments.servers)
                continue
            version, state = find_version(PROGRAMS[name]), machine()
        except ExpectedError as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        today = datetime.now(UTC).date().isoformat()
        findings = check(name, is_continued=arguments.is_continued)
        rows = list_rows(name, version, today, state, findings)
        print(f"{name}, {version}, {state}")
        for row in rows:
            print(f"  {row.protocol}, {row.aspect} ({row.network}): {row.grade}, {row.measured}")
        if not rows or is_disturbed(rows):
            print(f"  {name}: not kept, since most of it is unknown; try again on a quiet machine")
            failed = True
            continue
        kept = replace_rows(read_table(), rows)
        TABLE.write_text(format_table(kept, command), "utf-8")
        PAGE.write_text(format_page(kept), "utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
