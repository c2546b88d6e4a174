"""Share the benchmarks' command line: arguments, parts by name, a heading, one line per figure."""

import os
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from eyelevel.base.errors import ExpectedError
from scripts.arguments import parser_of

HEADING = f"{'':52} {'asked':>14} {'median':>9} {'least':>9} {'largest':>9}"


@dataclass
class Figure:
    """One measured bound; the row under `HEADING`."""

    what: str
    asked: str
    values: list[float] = field(default_factory=list)

    def line(self) -> str:
        """The row that is printed."""
        middle, low, high = statistics.median(self.values), min(self.values), max(self.values)
        return f"{self.what:52} {self.asked:>14} {middle:9.3f} {low:9.3f} {high:9.3f}"


class Line(Protocol):
    """One figure."""

    def line(self) -> str:
        """The row that is printed."""


def rounds(text: str | None, usual: int) -> int:
    """The command's only argument: how many rounds to measure."""
    parser = parser_of(text)
    parser.add_argument("rounds", nargs="?", type=int, default=usual, help=f"default: {usual}")
    return int(parser.parse_args().rounds)


def runs(text: str | None) -> list[Path]:
    """The command's only arguments: folders of finished runs, at least one."""
    parser = parser_of(text)
    parser.add_argument("runs", nargs="+", type=Path, metavar="DIR", help="a finished run")
    return list(parser.parse_args().runs)


def machine() -> str:
    """Describe the state of the machine at a figure's start."""
    return f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores, kernel {os.uname().release}"


def measure(
    text: str | None,
    heading: str,
    parts: Mapping[str, Callable[[], Iterator[Line]]],
    usual: Iterable[str] = (),
) -> int:
    """Measure the parts that the arguments name; without any the `usual` ones, else all.

    Returns the exit status: 1 after one line if a part could not be measured.
    """
    parser = parser_of(text)
    parser.add_argument("parts", nargs="*", choices=[[], *parts], default=[])
    arguments = parser.parse_args()
    print(machine())
    print(heading)
    for name in arguments.parts or tuple(usual) or parts:
        try:
            for figure in parts[name]():
                print(figure.line(), flush=True)
        except ExpectedError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    return 0
