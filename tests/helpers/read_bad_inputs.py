"""Reads mutants through the command's own entry, in one process whose memory and time are bounded.

`python read_bad_inputs.py SEED COUNT FOLDER KIND...` writes a line of JSON for each mutant: what
the command said and how it ended. Nothing is loaded, asked or recorded: what would do that is
replaced, after what reads the input.
"""

import contextlib
import io
import json
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from bad_changes import Kind
from bad_inputs import KINDS, bad_inputs, place

from eyelevel.cli import main as command

MEMORY_BYTES = 512 * 2**20
"""Beyond what the process has after it has read each kind's first sample."""
CPU_S = 10


class TooLongError(BaseException):
    """It took more processor time than it may."""


def _harmless() -> None:
    """Replace whatever would leave this process by an orderly end."""
    import eyelevel.cli.probe.commands as listed
    import eyelevel.cli.probe.scan as scan
    import eyelevel.cli.run.rerun as rerun
    import eyelevel.cli.site.record as record

    def done(*_: object, **__: object) -> Any:
        raise typer.Exit(0)

    def read_all(_: object, __: object, lines: Iterable[str] = ()) -> Iterator[Any]:
        for _name in lines:
            pass
        yield from ()

    scan.probe_events = listed.probe_events = read_all
    rerun.run_plan = done
    rerun.check_sites = lambda *_: None
    record.Recorder = done


def read(kind: Kind, content: bytes, folder: Path) -> dict[str, Any]:
    """Return how the command ended and what it printed for one input."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    placed = place(kind, content, folder)
    messages, printed, crash, status = io.StringIO(), io.StringIO(), "", -1
    sys.argv = ["eyelevel", *placed.words]
    began_s = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(printed):
            status = command.main()
    except BaseException:
        crash = traceback.format_exc()[-1500:]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {
        "status": status, "said": messages.getvalue()[-3000:], "printed": printed.getvalue()[:3000],
        "crash": crash, "named": placed.named, "cpu_s": round(time.process_time() - began_s, 3),
    }  # fmt: skip


def main(seed: int, count: int, folder: Path, names: list[str]) -> None:
    """Read `count` mutants of each kind."""

    def too_long(number: int, frame: object) -> None:
        raise TooLongError

    _harmless()
    for name in names:
        read(KINDS[name], next(bad_inputs(name, seed, 1)), folder)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGPROF, too_long)
    for name in names:
        for number, content in enumerate(bad_inputs(name, seed, count)):
            # What was found in a file is kept by its name: each has another.
            found = read(KINDS[name], content, folder / f"{name}-{number}".replace(" ", "-"))
            shutil.rmtree(folder, ignore_errors=True)
            print(json.dumps({"kind": name, "number": number} | found), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
