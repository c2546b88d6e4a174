"""A program that holds something while a test looks: from the line it prints until it is killed."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def holding(command: Sequence[str]) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The process and its first line, without its end; its input is open, and it is killed last."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().rstrip("\n")
        finally:
            process.kill()
