"""`--every` and `--for`: rounds that survive a restart and never overlap."""

import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from eyelevel.cli.output import hints
from eyelevel.probes.errors import ProbeError
from eyelevel.probes.schedule import Rounds

WAIT_S_MAX = 3600.0
"""Waits are cut into pieces, so that a suspended machine or a set clock is noticed."""


def repeat(out: Path, every_s: float, for_s: float, measure: Callable[[], None]) -> None:
    """Measure at every due time; where the same command was stopped before, go on with its rounds.

    Raises ProbeError when another process already measures into `out`.
    """
    state_path = out.with_name(out.name + ".rounds")
    with state_path.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProbeError(
                f"{out} is being measured into already: wait or choose another"
            ) from None
        rounds, last = _restored(lock.name, every_s, for_s)
        while (number := rounds.next_after(time.time(), last)) is not None:
            wait_s = rounds.due_unix_s(number) - time.time()
            if wait_s > 0:
                time.sleep(min(wait_s, WAIT_S_MAX))
                continue
            last = number
            _save(state_path, rounds, last)
            hints.print(f"round {number + 1} of {rounds.count}")
            measure()


def _restored(name: str, every_s: float, for_s: float) -> tuple[Rounds, int | None]:
    text = Path(name).read_text(encoding="utf-8")
    if text:
        state = json.loads(text.splitlines()[-1])
        if (state["every_s"], state["for_s"]) == (every_s, for_s):
            hints.print(f"going on after round {state['last'] + 1}: {name}")
            return Rounds(state["began_unix_s"], every_s, for_s), state["last"]
    return Rounds(time.time(), every_s, for_s), None


def _save(path: Path, rounds: Rounds, last: int) -> None:
    """Appended to the locked file itself: a rename would leave the lock on the old one."""
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
