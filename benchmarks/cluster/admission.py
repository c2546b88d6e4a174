"""Measure how soon a machine is asked, and how long its admission takes."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))

from synthetic_cluster import WORKER, until

from benchmarks.shared.command import Figure
from eyelevel.base.errors import LabError
from eyelevel.cluster.admission import Admissions
from eyelevel.cluster.connection import Connection
from eyelevel.cluster.driver import cluster_driver
from eyelevel.plan.file.parse import parse_plan
from eyelevel.run.machines.fleet import MachineDescription
from eyelevel.run.study.loop import Execution, run_trials
from eyelevel.run.study.prepare import prepare
from eyelevel.sites.recorded import open_site

ROUNDS = 5
LISTEN = "listen:127.0.0.1:0"
PLAN = """sites = ["dashboard"]
networks = ["lte"]
stacks = ["tcp+", "quic"]
reference = "tcp+"
blocks = 2
"""


class FirstQuestion:
    """A question that notes the time when it is asked."""

    def __init__(self, mark: str) -> None:
        self._mark = mark

    def describe_machine(self) -> MachineDescription:
        """Nothing more is wanted."""
        Path(self._mark).touch()
        raise LabError("it was asked")

    def measure_loads(self) -> list[tuple[float, float]]:
        """It is refused before."""
        return []


@contextmanager
def two_slots(connection: Connection, count: int) -> Iterator[None]:
    """Start slots as `local:2` does, on two cores, too."""
    command = [sys.executable, "-c", WORKER, connection.address, str(count), "here"]
    with subprocess.Popen(command) as process:
        try:
            yield
        finally:
            process.terminate()


def client() -> None:
    """The command, in a process of its own, whose last argument is the mark."""
    mark = sys.argv.pop()
    from eyelevel.cli import main
    from eyelevel.cli.run import run

    run.check_jobs = lambda *_: None
    from eyelevel.cluster import driver, scheduler

    driver.PlanQuestions = lambda *_: FirstQuestion(mark)
    scheduler._slots_here = two_slots
    sys.exit(main.main())


def start() -> Iterator[Figure]:
    """Measure the time from the command `eyelevel run --cluster local:2` to its first question."""
    figure = Figure("local:2 until the first admission begins, s", "<= 4")
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        plan, mark = Path(folder) / "plan.toml", Path(folder) / "mark"
        plan.write_text(PLAN)
        name = client.__name__
        program = f"from benchmarks.cluster.admission import {name}; {name}()"
        for number in range(ROUNDS):
            words = ["run", str(plan), "--out", f"{folder}/{number}", "--cluster", "local:2"]
            began_s = time.time()
            process = subprocess.Popen(
                [sys.executable, "-c", program, *words, str(mark)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            until(lambda process=process: mark.exists() or process.poll() is not None)
            _, said = process.communicate()
            assert mark.exists(), said.decode()
            figure.values.append(mark.stat().st_mtime - began_s)
            mark.unlink()
    yield figure


class _AdmittedError(Exception):
    """A machine is admitted, and no more is wanted of a run."""


def admission() -> Iterator[Figure]:
    """One slot's machine, really: its level not known, known, and of a client that returns: to a
    scheduler that stayed, and with one of its own, which slots end with."""
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        for number, (what, asked) in enumerate(
            (("its level not measured yet", "<= 240"), ("its level measured", "<= 60"))
        ):
            directory = _new_run(folder, number)
            with _worker(folder, str(directory / "scheduler.json")):
                yield Figure(f"admission, {what}, s", asked, [_admitted_s(directory, LISTEN)])
                if number:
                    again_s = _admitted_s(directory, LISTEN)
                    yield Figure("again for a client and its scheduler, s", "", [again_s])
        directory = _new_run(folder, 2)
        with _scheduler() as address, _worker(folder, address):
            _admitted_s(directory, address)
            again_s = _admitted_s(directory, address)
            yield Figure("again for a client that returns, s", "<= 1", [again_s])
        shutil.rmtree(folder, ignore_errors=True)


def _new_run(folder: str, number: int) -> Path:
    directory = Path(folder) / str(number)
    plan = parse_plan(PLAN, "plan.toml")
    prepare(plan, [open_site("dashboard")], directory, resume=False, loads_here=False)
    return directory


@contextmanager
def _worker(folder: str, where: str) -> Iterator[None]:
    command = [sys.executable, "-m", "eyelevel", "worker", where, "--trust-network"]
    environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
    with subprocess.Popen(command, env=environment) as worker:
        try:
            yield
        finally:
            worker.terminate()


@contextmanager
def _scheduler() -> Iterator[str]:
    """The address of one that is nobody's."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    command += ["--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = (re.search(r"Scheduler at: +(tcp://\S+)", line) for line in process.stderr)
        address = next(each[1] for each in found if each)
        drained = Thread(target=process.stderr.read)
        drained.start()
        try:
            yield address
        finally:
            process.terminate()
            drained.join()


def _admitted_s(directory: Path, where: str) -> float:
    """Return the time from a slot's arrival to its verdict."""
    site, plan = open_site("dashboard"), parse_plan(PLAN, "plan.toml")
    trials = prepare(plan, [site], directory, resume=True, loads_here=False)
    times: list[float] = []
    join, apply = Admissions.on_slot_joined, Admissions._apply

    def noted(self: Admissions, slot: str) -> list[object]:
        times.append(time.monotonic())
        return join(self, slot)

    def judged(self: Admissions, verdict: object) -> None:
        apply(self, verdict)
        times.append(time.monotonic())
        assert verdict.is_admitted, verdict
        raise _AdmittedError

    Admissions.on_slot_joined, Admissions._apply = noted, judged
    driver = cluster_driver(
        where,
        directory,
        plan,
        [site],
        Execution(),
        allow_heterogeneous=False,
        is_trusted=True,
        report=print,
    )
    try:
        run_trials(trials, {}, directory, lambda _: None, driver=driver)
    except _AdmittedError:
        return times[1] - times[0]
    finally:
        Admissions.on_slot_joined, Admissions._apply = join, apply
    raise AssertionError("nobody was admitted")
