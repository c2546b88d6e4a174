"""Planning, resuming and reporting a study of 150,000 trials.

The records are made up and have no frames, so what is measured is reading, checking, statistics and
the page, not the decoding of pictures. Each step runs in a process of its own, for its peak memory.
Of shape `das` the networks are his grid and links whose rate varies, so that all of his figures are
on the page, or are named there as too large; `benchmarks.run.page_opening` opens it.
Nothing is asserted; `benchmarks/results` keeps results with their machine.
"""

import gzip
import json
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))

from synthetic_run import environment, metrics_of, record_of

from benchmarks.shared.command import parser_of
from eyelevel.analysis.trials.table import TABLE_FILE
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.presets import get_network
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import Site, Trial, expand, plan_document
from eyelevel.report.page import build_report
from eyelevel.run.study.loop import todo
from eyelevel.run.study.prepare import begin_study
from eyelevel.store.directory import ENVIRONMENT_FILE, PLAN_FILE, RECORD_FILE, write_document
from eyelevel.store.packed import RECORD_EFFORT

SHAPES = {
    # sites, networks, stacks, blocks: as Wolsing's study, and as Das's, with many networks
    "wolsing": (100, 10, 5, 30),
    "das": (375, 110, 4, 1),
}
DAS_NETWORKS = ("das-[0-9]*", "unshaped", "das-verizon-*", "das-att-*")
STACKS = ("tcp", "tcp+", "tcp+bbr", "quic", "quic+bbr")


def study(shape: str, scale: float) -> tuple[Plan, list[Site]]:
    """A plan of made-up sites and networks."""
    sites, networks, stacks, blocks = SHAPES[shape]
    sites = max(2, round(sites * scale))
    names = [f"site-{n:03}" for n in range(sites)]
    tables = ", ".join(f'{{ name = "net-{n}", base = "dsl" }}' for n in range(networks))
    if shape == "das":
        tables = json.dumps(DAS_NETWORKS)[1:-1]
    text = (
        f"title = 'A study of many trials'\nsites = {json.dumps(names)}\nnetworks = [{tables}]\n"
        f"stacks = {json.dumps(STACKS[:stacks])}\nreference = 'tcp'\nblocks = {blocks}\n"
        "primary_metric = 'page_load_time_ms'\ncapture = false\n"
    )
    return parse_plan(text, "study"), [Site(name, f"sha256:{name * 8:.64}") for name in names]


def write_study(directory: Path, shape: str, scale: float) -> int:
    """Write the run; records straight to their places, since syncing each is not measured here."""
    plan, sites = study(shape, scale)
    trials = expand(plan, sites)
    write_document(directory, PLAN_FILE, plan_document(plan, sites, trials))
    write_document(directory, ENVIRONMENT_FILE, environment())
    draw = np.random.Generator(np.random.PCG64(11))
    for trial, noise in zip(trials, draw.standard_normal(len(trials)), strict=True):
        _write(directory, trial, noise)
    return len(trials)


def _write(directory: Path, trial: Trial, noise: float) -> None:
    load_ms = (500 + 10 * int(trial.site[-3:])) * (1 - 0.03 * STACKS.index(trial.stack))
    if network := get_network(trial.network):
        load_ms += 4 * network.rtt_ms_min + 400 / network.down_mbit_s
    record = record_of(trial, load_ms * (1 + 0.05 * noise))
    folder = directory / "trials" / trial.hash
    folder.mkdir(parents=True)
    (folder / RECORD_FILE).write_bytes(gzip.compress(json.dumps(record).encode(), RECORD_EFFORT))


def plan_step(directory: Path, shape: str, scale: float) -> None:
    """Plan file to ordered, seeded, hashed trials."""
    expand(*study(shape, scale))


def resume_step(directory: Path, shape: str, scale: float) -> None:
    """Find the remaining trials of an existing run."""
    plan, sites = study(shape, scale)
    assert todo(begin_study(plan, sites, directory, resume=True), directory) == []


def report_step(directory: Path, shape: str, scale: float) -> None:
    """Records to page, every metric of every load made up: all comparisons are there."""
    build_report(directory, metrics_of, processes=len(os.sched_getaffinity(0)))


def kept_step(directory: Path, shape: str, scale: float) -> None:
    """Records to page, with the metrics that need no frames, and the table kept."""
    build_report(directory, processes=len(os.sched_getaffinity(0)))


def main() -> None:
    """Measure and print one line a step."""
    parser = parser_of(__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="wolsing")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the sites")
    parser.add_argument("--directory", type=Path, help="keep the records here and use them again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eyelevel-") as folder:
        directory = arguments.directory or Path(folder)
        if not (directory / PLAN_FILE).exists():
            print(f"{write_study(directory, arguments.shape, arguments.scale)} records written")
        (directory / TABLE_FILE).unlink(missing_ok=True)
        steps: list[tuple[str, str, Callable[[Path, str, float], None]]] = [
            ("plan", "2 s", plan_step),
            ("resume", "5 s", resume_step),
            ("report", "60 s, 2 GB", report_step),
            ("report, kept", "", kept_step),
            ("report, again", "", kept_step),
        ]
        for name, asked, step in steps:
            took_s, cpu_s, peak_mb = measured_apart(
                step, directory, arguments.shape, arguments.scale
            )
            print(
                f"{name:16} {asked:>12} {took_s:8.2f} s, {cpu_s:8.2f} s of processor time, "
                f"{peak_mb:8.0f} MB",
                flush=True,
            )
            if step is report_step:
                size_mb = (directory / "report.html").stat().st_size / 1e6
                print(f"{'page':16} {'15 MB':>12} {size_mb:8.2f} MB", flush=True)
                print(f"{'left out of it':16} {'':>12} {_left_out(directory)}", flush=True)


def _left_out(directory: Path) -> str:
    """The figures that are too large for the page."""
    page = (directory / "report.html").read_text(encoding="utf-8")
    names = re.findall(
        r"Too large for this page: <code>eyelevel figures DIR --only ([a-z0-9-]+)", page
    )
    return ", ".join(names) or "no figure"


def measured_apart(step: Callable[..., None], *arguments: object) -> tuple[float, float, float]:
    """Return seconds, those of the processor, peak memory: of the process with its (largest) child.

    Processor time is that of all children, too; it changes less on a machine with other work.
    """
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        answer = manager.list()
        process = context.Process(target=_child, args=(step, arguments, answer))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(f"{step.__name__} failed")
        return tuple(answer)


def _child(step: Callable[..., None], arguments: tuple[object, ...], answer: list[float]) -> None:
    began_s = time.monotonic()
    step(*arguments)
    took_s = time.monotonic() - began_s
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_s = sum(each.ru_utime + each.ru_stime for each in used)
    answer.extend([took_s, cpu_s, sum(each.ru_maxrss for each in used) / 1e3])


if __name__ == "__main__":
    main()
