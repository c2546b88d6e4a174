"""Measure what a client does once with all of 150,000 synthetic loads: resume, analyse, report.

They have pictures, and rows that came from the slots. Each step runs in a process of its own.
"""

import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))

from synthetic_run import _frames, environment, metrics_of, record_of

from benchmarks.run.report_scale import STACKS, measured_apart
from benchmarks.shared.command import Figure
from eyelevel.analysis.run_files import columns_of, list_kept_columns
from eyelevel.analysis.trials.table import RowParts
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import Site, Trial, expand, plan_document
from eyelevel.report.page import build_report
from eyelevel.run.study.loop import todo
from eyelevel.run.study.prepare import begin_study
from eyelevel.run.study.stopping import FactsSoFar, Stopping, live_effects
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    FRAMES_FILE,
    PLAN_FILE,
    RECORD_FILE,
    write_document,
)
from eyelevel.store.packed import RECORD_EFFORT, pack
from eyelevel.store.pictures import PICTURES, keep_picture

LOADS = int(os.environ.get("LOADS", 150_000))
"""The environment variable: fewer, for a look."""
NETWORKS, BLOCKS = 10, 30


def study() -> tuple[Plan, list[Site]]:
    """A plan of made-up sites and networks, that may stop."""
    count = LOADS // (NETWORKS * BLOCKS * len(STACKS))
    names = [f"site-{n:03}" for n in range(count)]
    tables = ", ".join(f'{{ name = "net-{n}", base = "dsl" }}' for n in range(NETWORKS))
    text = (
        f"sites = {json.dumps(names)}\nnetworks = [{tables}]\nstacks = {json.dumps(STACKS)}\n"
        f"reference = 'tcp'\nblocks = {BLOCKS}\nprimary_metric = 'page_load_time_ms'\n"
        "[stop]\nfutility = false\n"
    )
    return parse_plan(text, "study"), [Site(name, f"sha256:{name * 8:.64}") for name in names]


def written(directory: Path) -> tuple[list[Trial], "Writer"]:
    """The trials of a study without a load, and what writes them; straight to their places, since
    syncing each is not measured here."""
    plan, sites = study()
    trials = expand(plan, sites)
    write_document(directory, PLAN_FILE, plan_document(plan, sites, trials))
    write_document(directory, ENVIRONMENT_FILE, environment())
    return trials, Writer(directory)


class Writer:
    """Commits as a client, but for syncing."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._draw = np.random.Generator(np.random.PCG64(11))
        self._packed: dict[int, bytes] = {}
        # Their values are made up, and they are kept as those that a slot computes.
        self._columns = columns_of(metrics_of, list_kept_columns().version)

    def write(self, trials: list[Trial]) -> None:
        """Records, pictures and rows."""
        rows = RowParts(self._directory, self._columns)
        for trial in trials:
            load_ms = (500 + 10 * int(trial.site[-3:])) * (1 - 0.03 * STACKS.index(trial.stack))
            record = record_of(trial, load_ms * (1 + 0.05 * self._draw.standard_normal()))
            folder = self._directory / "trials" / trial.hash
            folder.mkdir(parents=True)
            content = gzip.compress(json.dumps(record).encode(), RECORD_EFFORT)
            (folder / RECORD_FILE).write_bytes(content)
            (folder / FRAMES_FILE).write_bytes(self._frames(record, trial.stack))
            rows.add(trial.hash, self._columns.row(record, lambda: []), content)
        rows.flush()

    def _frames(self, record: dict[str, object], stack: str) -> bytes:
        """Return the same pictures for all loads of a stack."""
        place = STACKS.index(stack)
        if place not in self._packed:
            packed = pack(record, _frames("startup", 600.0 + 10 * place))
            self._packed[place] = packed.files[FRAMES_FILE]
            for name, picture in packed.pictures.items():
                keep_picture(self._directory / PICTURES, name, picture)
        return self._packed[place]


def scale() -> Iterator[Figure]:
    """Resuming, a look, a report."""
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        directory = Path(folder)
        trials, writer = written(directory)
        yield from _looks(directory, trials, writer)
        for step, asked_s, asked_mb in ((resume, 5, None), (report, 60, 2000)):
            took_s, cpu_s, peak_mb = measured_apart(step, directory)
            name = f"{step.__name__} of {LOADS} loads"
            yield Figure(f"{name}, s", f"<= {asked_s}", [took_s])
            yield Figure(f"{name}, s of processor", "", [cpu_s])
            yield Figure(f"{name}, peak MB", f"<= {asked_mb}" if asked_mb else "", [peak_mb])


def _looks(directory: Path, trials: list[Trial], writer: Writer) -> Iterator[Figure]:
    """The first one reads all; the next one comes when a further repetition is there. Of the last
    repetition there is none, since the study ends with it."""
    plan, _ = study()
    facts = FactsSoFar(directory)
    stopping = Stopping(plan, directory, facts)
    effects = live_effects(plan, directory, peek=True, facts=facts)
    assert effects is not None
    seen = 0
    for name, until, asked in (("the first look", BLOCKS - 2, ""), ("a look", BLOCKS - 1, "<= 2")):
        writer.write([each for each in trials if seen < each.repetition <= until])
        seen = until
        count = LOADS * until // BLOCKS
        for what, look in (
            ("decide", lambda until=until: stopping.ended(until)),
            ("show", effects),
        ):
            began_s, before_s = time.monotonic(), time.process_time()
            assert look()
            took_s, cpu_s = time.monotonic() - began_s, time.process_time() - before_s
            yield Figure(f"{name} at {count} loads, to {what}, s", asked, [took_s])
            yield Figure(f"{name} at {count} loads, to {what}, s of processor", "", [cpu_s])
    writer.write([each for each in trials if each.repetition > seen])


def resume(directory: Path) -> None:
    """Find the remaining trials of an existing run."""
    plan, sites = study()
    assert todo(begin_study(plan, sites, directory, resume=True), directory) == []


def report(directory: Path) -> None:
    """Build the report from the rows that arrived with the loads."""
    build_report(directory, processes=len(os.sched_getaffinity(0)))
