"""The bounds of recorded sites, measured on this machine: `make bench-archive`.

Opening 300 and 10,000 exchanges, verifying them, and matching requests among 10,000. The work is
done by two examples of the crates, so that no start of a process is in a figure; this prints theirs
beside what is asked. Nothing is asserted; `benchmarks/results` keeps results with their machine.
The larger archive takes 1 GB of the temporary folder.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.shared.command import parser_of

ROOT = Path(__file__).parents[2]
ASKED = {
    ("open", 300): "at most 30 ms",
    ("open", 10_000): "at most 1000 ms",
    ("resident", 10_000): "far below the file's 1000 MB",
    ("match", "exact"): "at most 20 µs",
    ("match", "query"): "at most 20 µs",
    ("match", "miss"): "at most 20 µs",
}


@dataclass(frozen=True)
class Row:
    """One figure."""

    what: str
    asked: str
    values: list[float]
    unit: str

    def line(self) -> str:
        """Return the printed line."""
        middle, low, high = median(self.values), min(self.values), max(self.values)
        return f"{self.what:58} {self.asked:30} {middle:9.2f} {low:9.2f} {high:9.2f} {self.unit}"


def main() -> None:
    """Prints the table."""
    print(f"{'what':58} {'asked':30} {'median':>9} {'least':>9} {'largest':>9}")
    for said in lines_of("eyelevel-archive", "open_cost"):
        count, size = said["exchanges"], f"{said['bytes'] / 1e6:.0f} MB"
        named = f"{count} exchanges, {size}"
        asked = ASKED[("open", count)]
        print(Row(f"open a WACZ, {named}", asked, said["open_ms"], "ms").line())
        if resident := ASKED.get(("resident", count)):
            what = f"memory that opening takes, {named}"
            print(Row(what, resident, said["resident_mb"], "MB").line())
        print(Row(f"its SHA-256, {named}", "", said["digest_ms"], "ms").line())
        print(Row(f"verify every digest, {named}", "", said["verify_ms"], "ms").line())
    for said in lines_of("eyelevel-replay", "matching"):
        asked = ASKED[("match", said["request"])]
        what = f"match, {said['request']}, 99th percentile of {said['exchanges']}"
        print(Row(what, asked, said["p99_us"], "µs").line())
        print(Row(what.replace("99th percentile", "median"), "", said["p50_us"], "µs").line())


def lines_of(crate: str, example: str) -> list[dict]:
    """The JSON lines that a crate's example prints."""
    command = ["cargo", "run", "--release", "--locked", "--quiet", "-p", crate]
    done = subprocess.run(
        [*command, "--example", example],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=900,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    main()
