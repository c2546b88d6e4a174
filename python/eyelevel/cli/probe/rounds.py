"""Run repeated rounds that survive restarts and never overlap (`--every` and `--for`)."""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eyelevel.base.errors import LabError, ProbeError
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import KEPT
from eyelevel.base.from_outside.source import Source
from eyelevel.cli.output import complain, hints
from eyelevel.cli.probe.appended import mend
from eyelevel.probes.schedule import Rounds
from eyelevel.store.disk.results import writing

WAIT_S_MAX = 3600.0
"""Maximum length of one wait, s, so that a suspended machine or a set clock is noticed."""


@contextmanager
def alone(out: Path) -> Iterator[Path]:
    """Lock `out` against other measuring processes; yields the file with the state of its rounds.

    Raises `ProbeError` if another process has the lock.
    """
    state_path = out.with_name(out.name + ".rounds")
    with writing(out):
        stream = state_path.open("a+", encoding="utf-8")
    with stream as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProbeError(
                f"{out} is already in use by another measurement: wait, or choose another"
            ) from None
        mend(state_path)
        yield state_path


def repeat(state_path: Path, every_s: float, for_s: float, measure: Callable[[], None]) -> None:
    """Measure at every due time; an interrupted series of the same command is continued.

    If a round fails completely, the error is printed and the next round begins when it is due.
    """
    rounds, last = _restore(state_path, every_s, for_s)
    while (number := rounds.next_after(time.time(), last)) is not None:
        wait_s = rounds.due_unix_s(number) - time.time()
        if wait_s > 0:
            time.sleep(min(wait_s, WAIT_S_MAX))
            continue
        last = number
        _save(state_path, rounds, last)
        hints.print(f"round {number + 1} of {rounds.count}")
        try:
            measure()
        except LabError as error:
            complain(f"round {number + 1}: {error}")


def _restore(path: Path, every_s: float, for_s: float) -> tuple[Rounds, int | None]:
    source = Source(str(path), KEPT, ProbeError)
    last_line = read_text(path, source).strip().rpartition("\n")[2]
    if last_line:
        try:
            state = parse_object(last_line.encode(), source)
            began_s, last = float(state["began_unix_s"]), int(state["last"])
            is_same = (state["every_s"], state["for_s"]) == (every_s, for_s)
        except (ProbeError, ValueError, TypeError, LookupError) as error:
            raise ProbeError(
                f"{path} is not a record of rounds: remove it to start again"
            ) from error
        if is_same:
            hints.print(f"continuing after round {last + 1}: {path}")
            return Rounds(began_s, every_s, for_s), last
    return Rounds(time.time(), every_s, for_s), None


def _save(path: Path, rounds: Rounds, last: int) -> None:
    """Write the state to the locked file in place: a rename would lose the lock."""
    state = {
        "began_unix_s": rounds.began_unix_s,
        "every_s": rounds.every_s,
        "for_s": rounds.for_s,
        "last": last,
    }
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(state) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
