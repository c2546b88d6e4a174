"""What the benchmarks' commands have in common: parts by name, a heading, a line a figure."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from eyelevel.errors import ExpectedError


class Line(Protocol):
    """One figure."""

    def line(self) -> str:
        """The row that is printed."""


def measure(
    description: str | None,
    heading: str,
    parts: Mapping[str, Callable[[], Iterator[Line]]],
    usual: Iterable[str] = (),
) -> int:
    """Measure the parts that the arguments name; without any the `usual` ones, else all.

    Returns the exit status: 1 after one line where a part could not be measured.
    """
    parser = argparse.ArgumentParser(description=(description or "").split("\n\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *parts], default=[])
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores, kernel {os.uname().release}")
    print(heading)
    for name in arguments.parts or tuple(usual) or parts:
        try:
            for figure in parts[name]():
                print(figure.line(), flush=True)
        except ExpectedError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    return 0
