"""Run a program in the background of a test, from its first line of output until it is killed."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def background_process(command: Sequence[str]) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Yield a process and its first line of output; its input stays open, and it is killed last."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().rstrip("\n")
        finally:
            process.kill()
