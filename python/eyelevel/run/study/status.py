"""The status of a run for other processes: `status.json`, combined with the directory.

Committed trials are counted in the directory, and the kernel reports whether a process writes
there; so the last status of a killed run misleads nobody.

Build the command line that resumes a run from its status, with each part checked here.

A run's directory may be untrusted, and users type the line that `to load the rest: ...` shows. So
nothing of the directory's own line is printed unless it is one of these parts: a preset's name or a
plan file with this very plan, the directory in question, and options that grant nothing.
"""

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from eyelevel.analysis.run_files import check_run, read_stopped, read_stored_plan
from eyelevel.base.errors import ExpectedError
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import PRESETS_BY_NAME
from eyelevel.run.study.progress import Progress
from eyelevel.store.claim import writer
from eyelevel.store.directory import check_document, json_bytes, list_committed, read_document
from eyelevel.store.disk import write_whole
from eyelevel.store.machines import read_machines, refusal
from eyelevel.store.values import OBSERVED, Count

STATUS_FILE = "status.json"
VERSION = 1
BETWEEN_S = 2.0
"""The time between two writings."""
SILENCE_S = 60.0
"""The silence after which a writer counts as dead, on disks without locks."""

Ending = Literal["running", "interrupted", "ended"]
State = Literal["running", "interrupted", "ended", "dead"]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@with_config(OBSERVED)
class WrittenStatus(TypedDict):
    """The status that a run writes. `outcomes`: of the loads since the last start."""

    version: Literal[1]
    ending: Ending
    started_at: str
    written_at: str
    outcomes: dict[str, Count]
    slots: Count
    slots_there: Count | None
    loads_per_s: Seconds
    left_s: Seconds
    machines_lost: Count
    resume: str


WRITTEN_STATUS: TypeAdapter[WrittenStatus] = TypeAdapter(WrittenStatus)


class StatusFile:
    """The status file of a run in progress."""

    def __init__(self, directory: Path, resume: str) -> None:
        """`resume`: the command that resumes the run."""
        self._file, self._resume = directory / STATUS_FILE, resume
        self._started_at = _now()
        self._written_s = float("-inf")
        self._last = Progress(0)

    @property
    def has_loaded(self) -> bool:
        """Whether a load has begun since this start."""
        return self._last.trial is not None

    def beside(self, on_progress: Callable[[Progress], None]) -> Callable[[Progress], None]:
        """Return a callback that updates the status and then calls `on_progress`."""

        def see(progress: Progress) -> None:
            on_progress(progress)
            self._last = progress
            if time.monotonic() >= self._written_s + BETWEEN_S:
                self.write("running")

        return see

    def write(self, ending: Ending) -> None:
        """Write the present status. Disk errors are ignored here; the run reports them itself."""
        last = self._last
        written = {
            "version": VERSION,
            "ending": ending,
            "started_at": self._started_at,
            "written_at": _now(),
            "outcomes": dict(last.outcomes),
            "slots": last.slots,
            "slots_there": last.slots_there,
            "loads_per_s": last.loads_per_s,
            "left_s": last.left_s,
            "machines_lost": last.machines_lost,
            "resume": self._resume,
        }
        with suppress(OSError):
            write_whole(self._file, json_bytes(written))
        self._written_s = time.monotonic()


@dataclass(frozen=True)
class RunStatus:
    """The status of a run. Times are in seconds; `outcomes` are of the loads since the last
    start."""

    state: State
    done: int
    total: int
    outcomes: dict[str, int] = field(default_factory=dict)
    started_at: str = ""
    written_at: str = ""
    writer: str = ""
    """The process that holds the directory."""
    slots: int = 0
    slots_there: int | None = None
    """The present slots, including those not admitted; None if the slots are on the run's own
    machine."""
    loads_per_s: float = 0.0
    left_s: float | None = None
    machines_lost: int = 0
    machines_refused: dict[str, str] = field(default_factory=dict)
    """The reasons of refusal by machine name."""
    decided: str = ""
    resume: str = ""
    """The command line that resumes the run, if every part of it could be checked."""

    def as_json(self) -> JsonObject:
        """Return the JSON of `eyelevel status --json`."""
        return {
            "state": self.state,
            "writer": self.writer or None,
            "loads": {"done": self.done, "total": self.total},
            "outcomes": self.outcomes,
            "started_at": self.started_at or None,
            "written_at": self.written_at or None,
            "slots": self.slots,
            "slots_there": self.slots_there,
            "loads_per_s": self.loads_per_s,
            "left_s": self.left_s,
            "machines_lost": self.machines_lost,
            "machines_refused": self.machines_refused,
            "decided": self.decided or None,
            "resume": self.resume or None,
        }


def read_status(directory: Path) -> RunStatus:
    """Read the status of a run in progress, killed or ended. Raises StoreError for none."""
    check_run(directory)
    owner = writer(directory)
    stop = read_stopped(directory) or {"networks": {}, "reason": ""}
    ends = stop["networks"]
    stored = read_stored_plan(directory)
    trials = [
        each.hash
        for each in stored.trials
        if each.repetition <= ends.get(each.network, each.repetition)
    ]
    there = list_committed(directory)
    done = sum(each in there for each in trials)
    machines = read_machines(directory).values()
    refused = {each["name"]: why for each in machines if (why := refusal(each)) is not None}
    written = _read_written(directory)
    state = _state(written, owner, is_whole=done == len(trials))
    now = written if written and state == "running" else None
    return RunStatus(
        state,
        done,
        len(trials),
        outcomes=written["outcomes"] if written else {},
        started_at=written["started_at"] if written else "",
        written_at=written["written_at"] if written else "",
        writer=owner or "",
        slots=now["slots"] if now else 0,
        slots_there=now["slots_there"] if now else None,
        loads_per_s=now["loads_per_s"] if now else 0.0,
        left_s=(now["left_s"] or None) if now else None,
        machines_lost=written["machines_lost"] if written else 0,
        machines_refused=refused,
        decided=stop["reason"],
        resume=resume_line(written["resume"], directory, stored.plan) if written else "",
    )


def _state(written: WrittenStatus | None, owner: str | None, *, is_whole: bool) -> State:
    ending = written["ending"] if written else None
    is_heard = owner is None and written is not None and _age_s(written) < SILENCE_S
    if ending != "ended" and (owner or (is_heard and ending == "running")):
        return "running"
    if is_whole:
        return "ended"
    return "interrupted" if ending == "interrupted" else "dead"


def _age_s(written: WrittenStatus) -> float:
    try:
        written_at = datetime.fromisoformat(written["written_at"])
        return (datetime.now(UTC) - written_at).total_seconds()
    except (ValueError, TypeError):  # not a time, or one without its zone
        return float("inf")


def _read_written(directory: Path) -> WrittenStatus | None:
    """Return the status that the run wrote; None without one."""
    if not (directory / STATUS_FILE).exists():
        return None
    file = directory / STATUS_FILE
    remedy = "delete it, then what is committed is counted alone"
    return check_document(WRITTEN_STATUS, read_document(directory, STATUS_FILE), file, remedy)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


_FLAGS = (
    "--resume",
    "--peek",
    "--har",
    "--video",
    "--filmstrip",
    "--allow-heterogeneous",
    "--open",
    "--json",
)
_NUMBERS = ("--jobs", "--retries", "--host-wait")
_DIGITS_MAX = 9


def resume_line(written: str, directory: Path, plan: Plan) -> str:
    """Return the line to type, or "" if `written` has a part that cannot be checked.

    `written` is the directory's own line, `plan` the run's plan.
    """
    try:
        program, command, *words = shlex.split(written)
    except ValueError:  # too few words, or an unclosed quote
        return ""
    if program != "eyelevel" or command not in ("run", "demo"):
        return ""
    if any(stack.external_server for stack in plan.stacks):
        return ""  # an external program: only the user may name it
    checked = ["eyelevel", command]
    if command == "run":
        if not words or not _is_plan(words[0], plan.source):
            return ""
        checked.append(words.pop(0))
    try:
        checked += _options(iter(words), directory)
    except (ValueError, StopIteration, RuntimeError):
        return ""
    return shlex.join(checked)


def _is_plan(name: str, source: str) -> bool:
    if name in PRESETS_BY_NAME:
        return True
    if name.startswith("-"):
        return False
    try:
        return read_text(Path(name), Source(name, PLAN, plan_error)) == source
    except (ExpectedError, OSError, ValueError):
        return False


def _options(words: Iterator[str], directory: Path) -> list[str]:
    checked: list[str] = []
    for word in words:
        checked.append(word)
        if word in _FLAGS:
            continue
        value = next(words)
        if word == "--out" and Path(value).resolve() == directory.resolve():
            checked.append(str(directory))
        elif word in _NUMBERS and _is_number(value):
            checked.append(value)
        else:
            raise ValueError(word)
    return checked


def _is_number(word: str) -> bool:
    return word.isascii() and word.replace(".", "", 1).isdigit() and len(word) <= _DIGITS_MAX
