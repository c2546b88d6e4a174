"""Faults at named steps of writes: work is killed or refused there, done again, and compared.

Run as a program in a mount namespace of its own (`unshare -rm`); it prints a JSON line a case that
went wrong, and last how many went how. Each piece of work is a process forked off here, on a small
disk that is filled, made read-only, or left without descriptors at the step that is asked for.
"""

import argparse
import ctypes
import errno
import gc
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import numpy as np
from sample_record import sample_record

from eyelevel.base.errors import ExpectedError
from eyelevel.load.trial import TrialResult
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, Trial
from eyelevel.report import page as report_page
from eyelevel.run.block import attempts
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork, load_block
from eyelevel.run.bundle.bundle import RunInputs, write_bundle
from eyelevel.run.bundle.unpack import open_bundle
from eyelevel.run.study.dispatch import Block
from eyelevel.run.study.loop import Interrupted, run_trials
from eyelevel.run.study.prepare import begin_study
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Event, OnStart, SlotAdded, Slots, TrialsFinished
from eyelevel.sites.recorded import RecordedSite
from eyelevel.store.directory import ENVIRONMENT_FILE, write_document
from eyelevel.store.disk import watch_steps
from eyelevel.store.frames import Frame, Frames

PLAN = """sites = ["site"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 1
"""
DISK_BYTES = 4_000_000
WRONG, REFUSED = 3, 2
_MS_RDONLY, _MS_REMOUNT = 1, 32
_libc = ctypes.CDLL(None, use_errno=True)

Tree = dict[str, tuple[int, bytes]]


@dataclass(frozen=True)
class Work:
    """The work on a small disk, repeated after a fault; `prepare` comes before the faults."""

    do: Callable[[Path], None]
    prepare: Callable[[Path], None] = lambda _: None


@cache
def stub_frames(repetition: int, stack: str) -> Frames:
    """Two pictures, the last of which all loads of a stack share."""
    pictures = [np.full((8, 8, 3), repetition, np.uint8)]
    pictures.append(np.full((8, 8, 3), 100 + len(stack), np.uint8))
    return Frames.of([Frame(0.0, pictures[0]), Frame(40.0, pictures[1])])


def stub_result(trial: Trial) -> TrialResult:
    """Return the result of a trial, the same each time."""
    frames = stub_frames(trial.repetition, trial.stack)
    record = sample_record() | {"trial": trial.record_key()}
    return TrialResult(record, frames, (frames,), {"logs/browser.json": trial.hash.encode()})


def study(disk: Path) -> None:
    """A run through the real loop, with loads that are made up."""
    attempts.run_trial = lambda trial, *_, **__: stub_result(trial)  # type: ignore[assignment]
    directory = disk / "run"
    plan = parse_plan(PLAN, "plan.toml")
    trials = begin_study(plan, [Site("site", "sha256:" + "0" * 64)], directory, resume=True)
    if not (directory / ENVIRONMENT_FILE).exists():
        write_document(directory, ENVIRONMENT_FILE, {"machine": "x86_64"})
    run_trials(trials, {"site": "site.wacz"}, directory, lambda _: None)


class Packed:
    """A slot that is elsewhere: a block comes from it whole, as bytes. Rows do not come with it:
    what writes them has threads, and hangs in a process that was forked."""

    def __init__(self, recording: Input, on_start: OnStart) -> None:
        # A new client has nothing yet of what a process has sent before.
        recordings = {"site": recording}
        self._work = BlockWork(
            str(uuid4()), recordings, load=lambda trial, *_, **__: stub_result(trial)
        )
        self._on_start = on_start
        self._events: list[Event] = [SlotAdded("slot", "machine")]

    def start(self, slot: str, block: Block) -> None:
        """Loaded at once."""
        for trial in block.trials:
            self._on_start(trial)
        came = load_block(self._work, block.trials)
        assert isinstance(came, list)
        packed = tuple(replace(each, row=None) for each in came)
        outcomes = tuple((trial, "ok") for trial in block.trials)
        self._events.append(TrialsFinished(slot, outcomes, is_last=True, packed=packed))

    def restart(self, slot: str) -> None:
        """Nothing hangs here."""

    def wait(self) -> Sequence[Event]:
        """Return the events so far."""
        events, self._events = self._events, []
        return events


def cluster(disk: Path) -> None:
    """A run through the real loop and the real packing, whose blocks come from elsewhere."""
    directory = disk / "run"
    plan = parse_plan(PLAN, "plan.toml")
    trials = begin_study(plan, [Site("site", "sha256:" + "0" * 64)], directory, resume=True)
    if not (directory / ENVIRONMENT_FILE).exists():
        write_document(directory, ENVIRONMENT_FILE, {"machine": "x86_64"})
    recording = disk.parent / "site.wacz"  # beside the disk: it is read, whatever becomes of that
    recording.write_bytes(b"recording")
    needed = Input(hashlib.sha256(b"recording").hexdigest(), str(recording))

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        yield Packed(needed, accounts.start)

    run_trials(trials, {}, directory, lambda _: None, driver=driver)


def report(disk: Path) -> None:
    """The page of a run, whose text is made up."""
    report_page.page = lambda _: "page " * 1000  # type: ignore[assignment]
    results: Any = SimpleNamespace(declared=())
    report_page.write_report(disk / "run", results)


def bundle(disk: Path) -> None:
    """The run as one file."""
    site = RecordedSite("site", disk / "site.wacz", "sha256:" + "0" * 64)
    inputs = RunInputs({"site": site}, {}, {"installed.txt": b"none"})
    write_bundle(disk / "run", inputs, disk / "run.zip")


def unpack(disk: Path) -> None:
    """The file as a run again."""
    open_bundle(disk / "run.zip", disk / "unpacked", resume=True)


def _bundled_study(disk: Path) -> None:
    study(disk)
    (disk / "run" / ENVIRONMENT_FILE).unlink()  # a reader asks more of it than is made up here
    (disk / "site.wacz").write_bytes(b"recording")


def _packed_study(disk: Path) -> None:
    _bundled_study(disk)
    shutil.rmtree(disk / "run" / "trials")  # a few files are as good as many
    bundle(disk)
    shutil.rmtree(disk / "run")


WORKS = {
    "study": Work(study),
    "cluster": Work(cluster),
    "report": Work(report, study),
    "bundle": Work(bundle, _bundled_study),
    "unpack": Work(unpack, _packed_study),
}


def kill(disk: Path) -> None:
    """The process dies as by `kill -9`."""
    os.kill(os.getpid(), signal.SIGKILL)


def fill(disk: Path) -> None:
    """Fill the disk to the last byte."""
    descriptor = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while True:
            os.write(descriptor, bytes(512))
    os.close(descriptor)


def make_read_only(disk: Path) -> None:
    """The disk takes nothing more. The kernel refuses this while somebody writes: then nothing."""
    _remount(disk, _MS_RDONLY)


def take_descriptors(disk: Path) -> None:
    """No file can be opened any more."""
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, lowest))


FAULTS: dict[str, Callable[[Path], None]] = {
    "killed": kill,
    "full": fill,
    "read-only": make_read_only,
    "descriptors": take_descriptors,
}


def heal(disk: Path) -> None:
    """The disk has room again and can be written to."""
    _remount(disk, 0)
    (disk / "filler").unlink(missing_ok=True)


def _remount(disk: Path, flags: int) -> None:
    if _libc.mount(None, str(disk).encode(), None, _MS_REMOUNT | flags, None) != 0:
        number = ctypes.get_errno()
        if number != errno.EBUSY:
            raise OSError(number, os.strerror(number))


def run_forked(work: Callable[[Path], None], disk: Path, on_step: Callable[[str], None]) -> int:
    """Do the work in a process of its own; return its exit status (`os.waitstatus_to_exitcode`)."""
    pid = os.fork()
    if pid == 0:
        status = WRONG
        try:
            with watch_steps(on_step):
                work(disk)
            status = 0
        except (ExpectedError, OSError) as error:
            status = WRONG if "\n" in str(error) else REFUSED
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def warm_up(work: Work, folder: Path) -> None:
    """Do it once here, so that no forked process has to import and to encode again what this one
    has: that took most of a case's time."""
    folder.mkdir()
    work.prepare(folder)
    work.do(folder)


def tree(disk: Path) -> Tree:
    """Return all files: their permissions and bytes."""
    files = (path for path in disk.rglob("*") if path.is_file())
    return {
        str(path.relative_to(disk)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(files)
    }


class Runs:
    """Work on a small disk again and again."""

    def __init__(self, name: str, disk: Path) -> None:
        self.name, self._disk = name, disk
        self._work = WORKS[name]
        self.steps: list[str] = []
        self._prepared = disk.parent / "prepared"
        if run_forked(self._work.prepare, disk, lambda _: None) != 0:
            sys.exit(f"{name}: it cannot be prepared")
        shutil.copytree(disk, self._prepared)
        self._before = tree(disk)
        steps_file = disk.parent / f"{name}.steps"
        with steps_file.open("w") as file:

            def note(step: str) -> None:
                print(step, file=file, flush=True)

            if run_forked(self._work.do, disk, note) != 0:
                sys.exit(f"{name}: it fails without a fault")
        self.steps = steps_file.read_text().splitlines()
        self._whole = tree(disk)

    def _begin_again(self) -> None:
        for path in self._disk.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self._prepared, self._disk, dirs_exist_ok=True)

    def met(self, faults: list[tuple[int, str]]) -> tuple[str, str]:
        """Meet each fault at that step of a further try, and end; how, and what is wrong with it.

        Wrong is what is half under a name that it has when it is whole, and another end.
        """
        self._begin_again()
        ends = []
        for position, fault in faults:
            left = [position]

            def at(_: str, left: list[int] = left, fault: str = fault) -> None:
                if left[0] == 0:
                    FAULTS[fault](self._disk)
                left[0] -= 1

            status = run_forked(self._work.do, self._disk, at)
            heal(self._disk)
            ends.append("killed" if status < 0 else "refused" if status == REFUSED else "done")
            if status == WRONG:
                return "wrong", "a traceback, or more than a line"
            if half := self._half():
                return "wrong", f"half written: {half}"
        if run_forked(self._work.do, self._disk, lambda _: None) != 0:
            return "wrong", "it cannot be ended"
        if (found := tree(self._disk)) != self._whole:
            differ = found.items() ^ self._whole.items()
            return "wrong", f"another end: {sorted({name for name, _ in differ})}"
        return ends[-1], ""

    def _half(self) -> list[str]:
        """Return the files that are neither as before nor as at the end, without those announced as
        drafts."""
        found = tree(self._disk)
        return [
            name
            for name, content in found.items()
            if not re.search(r"(^|/)\.(writing|whole)-", name)
            and content not in (self._whole.get(name), self._before.get(name))
        ]


@dataclass(frozen=True)
class Case:
    """Faults that come one after another, each by the step's position and its name."""

    faults: list[tuple[int, str]]
    is_seeded: bool = False


def cases(runs: Runs, seeded: int) -> Iterator[Case]:
    """Yield each fault at each step; then so many seeded ones of up to three faults."""
    for fault in FAULTS:
        for position in range(len(runs.steps)):
            yield Case([(position, fault)])
    for seed in range(seeded):
        draw = random.Random(seed)
        count = draw.randint(1, 3)
        steps = range(len(runs.steps))
        faults = [(draw.choice(steps), draw.choice(list(FAULTS))) for _ in range(count)]
        yield Case(faults, is_seeded=True)


def main() -> None:
    """Run the module's command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("work", choices=WORKS)
    parser.add_argument("--seeded", type=int, default=0)
    parser.add_argument("--share", default="1/1", help="Which of how many parts of the cases.")
    arguments = parser.parse_args()
    disk = arguments.folder / "disk"
    disk.mkdir()
    options = f"size={DISK_BYTES}".encode()
    if _libc.mount(b"none", str(disk).encode(), b"tmpfs", 0, options) != 0:
        sys.exit("no disk can be mounted")
    warm_up(WORKS[arguments.work], arguments.folder / "warm")
    gc.freeze()  # a forked process then copies less of this one
    gc.disable()
    runs = Runs(arguments.work, disk)
    ended: Counter[str] = Counter()
    part, parts = map(int, arguments.share.split("/"))
    for case in list(cases(runs, arguments.seeded))[part - 1 :: parts]:
        end, wrong = runs.met(case.faults)
        ended["seeded" if case.is_seeded else end] += 1
        if wrong:
            where = [(runs.steps[position], position, fault) for position, fault in case.faults]
            print(json.dumps({"case": where, "wrong": wrong}), flush=True)
    print(json.dumps({"steps": runs.steps, "ended": dict(ended)}))


if __name__ == "__main__":
    main()
