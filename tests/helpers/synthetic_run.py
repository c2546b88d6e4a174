"""A made-up run for tests: records and frames of pages that never were."""

import atexit
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from sample_record import sample_navigation, sample_record

from eyelevel.analysis.metrics.catalogue import Measured
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import preset_text
from eyelevel.plan.trials import Site, Trial, expand, plan_document
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import ENVIRONMENT_FILE, PLAN_FILE, write_document
from eyelevel.store.frames import Frames, Part, encode
from eyelevel.store.pictures import Picture

SITES = ("startup", "dashboard")
TWO_STACKS = """\
sites = ["startup", "dashboard"]
networks = ["dsl", "lte"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 6
"""
SPEED = {"tcp": 1.0, "tcp+": 0.93, "quic": 0.86}
LOAD_MS = {"dsl": 620.0, "dsl+cross": 1240.0, "lte": 1900.0}
FAILED = ("starved", "wrong-stack")  # of loads that end all the same
STAGES = (0.35, 0.5, 0.7, 0.8, 1.0)
PROGRESS = ((0.0, 0.0), (0.35, 0.2), (0.5, 0.5), (0.7, 0.6), (0.8, 0.9), (1.0, 1.0))


def quickstart_against_tcp() -> str:
    """The text of the quickstart plan with one reference."""
    text = preset_text("quickstart", SITES)
    return re.sub(r"comparisons = .*", 'reference = "tcp"', text)


def write_run(
    directory: Path,
    outcomes: dict[tuple[str, str], str] | None = None,
    text: str | None = None,
    noise: float = 0.03,
    placed: Callable[[Trial], tuple[dict[str, Any], float]] | None = None,
    change: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Plan:
    """Write a run of the quickstart's trials, each stack against `tcp`, or of `text`.

    `outcomes` by (block, stack), else `ok`. `placed`: what a trial's machine says of itself, and by
    how much it takes longer there. `change`: returns the keys of a record that are other ones.
    """
    ended = tuple(sorted((outcomes or {}).items()))
    if placed or change:
        return _write_run(directory, ended, text, noise, placed, change)
    plan, written = _write_once(ended, text, noise, record_of)
    directory.mkdir(parents=True, exist_ok=True)
    mode = directory.stat().st_mode  # a browser, which is another user, may have to read it
    shutil.copytree(written, directory, dirs_exist_ok=True)
    directory.chmod(mode)
    return plan


@cache
def _write_once(
    outcomes: tuple[tuple[tuple[str, str], str], ...],
    text: str | None,
    noise: float,
    _record_of: Callable[..., dict[str, Any]],  # a key of the cache: tests replace it
) -> tuple[Plan, Path]:
    """Write a run that several tests of a process copy; return its plan and directory."""
    directory = Path(tempfile.mkdtemp(prefix="eyelevel-test-"))
    _written.append(directory)
    return _write_run(directory, outcomes, text, noise), directory


_written: list[Path] = []


def remove_written() -> None:
    """Remove the runs that this process copied; tests/conftest.py calls it at a session's end."""
    for directory in _written:
        shutil.rmtree(directory, ignore_errors=True)


atexit.register(remove_written)  # benchmarks have no session


def _write_run(
    directory: Path,
    outcomes: tuple[tuple[tuple[str, str], str], ...],
    text: str | None,
    noise: float,
    placed: Callable[[Trial], tuple[dict[str, Any], float]] | None = None,
    change: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Plan:
    outcome_of = dict(outcomes)
    plan = parse_plan(text or quickstart_against_tcp(), "plan.toml")
    sites = [Site(name, f"sha256:{name * 8:.64}") for name in plan.sites]
    trials = expand(plan, sites)
    write_document(directory, PLAN_FILE, plan_document(plan, sites, trials))
    write_document(directory, ENVIRONMENT_FILE, environment())
    draw = np.random.Generator(np.random.PCG64(11))
    for trial in trials:
        load_ms = LOAD_MS.get(trial.network, 1000.0) * SPEED.get(trial.stack, 1.0)
        load_ms *= 1.3 if trial.site == "dashboard" else 1.0
        load_ms *= 1 + noise * float(draw.standard_normal())
        machine, factor = placed(trial) if placed else ({}, 1.0)
        load_ms *= factor
        outcome = outcome_of.get((trial.block, trial.stack), "ok")
        record = record_of(trial, load_ms, outcome)
        record["host"] = {**record["host"], **machine}
        record |= change(record) if change else {}
        write_trial(directory, record, _frames(trial.site, load_ms) if outcome == "ok" else [])
    return plan


def read_run(directory: Path, *arguments: Any, **named: Any) -> StudyResults:
    """Write a run and return its results; arguments as for `write_run`."""
    write_run(directory, *arguments, **named)
    return read_results(directory, metrics_of)


def record_of(trial: Trial, load_ms: float, outcome: str = "ok") -> dict[str, Any]:
    """One record; its Speed Index stands among the observations, for `metrics_of` to find."""
    detail = "" if outcome == "ok" else "made up for a test"
    record = sample_record(outcome=outcome, outcome_detail=detail) | {"trial": trial.record_key()}
    if outcome in ("ok", *FAILED):
        record["navigation"] = sample_navigation(
            load_ms,
            time_to_first_byte_ms=0.2 * load_ms,
            first_contentful_paint_ms=0.35 * load_ms,
            dom_content_loaded_ms=0.5 * load_ms,
        )
    lateness = {"lateness_us_p50": 14.0, "lateness_us_p99": 120.0, "lateness_us_max": 640.0}
    kinds = trial.lab_cross_traffic()
    record["cross_traffic"] = _cross_traffic(kinds) if kinds else None
    timeline = _timeline(load_ms) if outcome == "ok" else None
    side = {"packets": 100, **lateness, "arrival": lateness}
    record["path"] = {"down": {**side, "timeline": timeline}, "up": side}
    record["browser"] = {**record["browser"], "navigation_start_ns": 0}
    record["versions"] = {"eyelevel": "0.1.0", "browser": "Chromium 156", "kernel": "6.1"}
    return record


def _timeline(load_ms: float) -> dict[str, Any]:
    """Two bursts: the page, and after a silence its objects."""
    interval_ms = 16
    bursts = [int(share * load_ms / interval_ms) for share in (0.2, 0.3, 0.5, 0.9)]
    active = [bursts[0] <= n < bursts[1] or bursts[2] <= n < bursts[3] for n in range(bursts[3])]
    return {
        "start_ns": 0,
        "interval_ms": interval_ms,
        "released_bytes": [6000 * each for each in active],
        "inside_bytes_max": [(9000 + 500 * (n % 7)) * each for n, each in enumerate(active)],
    }


def _cross_traffic(kinds: Any) -> dict[str, Any]:
    flows = [
        {
            "congestion_control": kind["congestion_control"],
            "direction": kind["direction"],
            "bytes": 5_000_000,
            "duration_ms": 4000.0,
            "goodput_bit_s": 10e6,
            "sampled_bytes": [0, 5_000_000],
        }
        for kind in kinds
        for _ in range(kind["flows"])
    ]
    index = {kind["direction"]: 1.0 for kind in kinds}
    load = {"duration_ms": 1000.0, "page_share": 0.25}
    return {"flows": flows, "fairness_index": index, "sampled_at_ns": [0, 4 * 10**9], "load": load}


def metrics_of(record: Any, frames: Any) -> Measured:
    """Metrics of a made-up record, shares of its load time, and its progress."""
    load_ms = record["navigation"]["page_load_time_ms"]
    progress = [(stage * load_ms, share) for stage, share in PROGRESS]
    metrics: dict[str, float | None] = {
        "speed_index_ms": 0.6 * load_ms,
        "first_visual_change_ms": 0.35 * load_ms,
        "visual_complete_85_ms": 0.8 * load_ms,
        "last_visual_change_ms": load_ms,
        "first_contentful_paint_ms": 0.35 * load_ms,
        "page_load_time_ms": load_ms,
        "time_to_first_byte_ms": 0.2 * load_ms,
        "largest_contentful_paint_ms": 0.7 * load_ms,
        "lcp_resource_load_delay_ms": 0.15 * load_ms,
        "lcp_resource_load_duration_ms": 0.25 * load_ms,
        "lcp_element_render_delay_ms": 0.1 * load_ms,
    }
    return Measured(metrics, tuple(progress))


def environment() -> dict[str, Any]:
    """Return a synthetic run's environment."""
    return {
        "version": 1,
        "versions": {"eyelevel": "0.1.0", "browser": "Chromium 156.0", "kernel": "6.1.0"},
        "cpu": "Example CPU at 2.5 GHz",
        "cores": 2,
        "tcp_congestion_controls": ["cubic", "bbr", "reno"],
        "realtime_allowed": True,
        "confined": True,
    }


def _frames(site: str, load_ms: float) -> Frames:
    parts, last = _drawn(site)
    return Frames([0.0, *(stage * load_ms for stage in STAGES)], parts, lambda: last)


@cache
def _drawn(site: str) -> tuple[list[Part], Picture]:
    picture = Image.new("RGB", (640, 360), "white")
    pictures = [np.array(picture)]
    brush = ImageDraw.Draw(picture)
    colour = (38, 70, 110) if site == "startup" else (120, 50, 80)
    for index in range(len(STAGES)):
        if index == 0:
            brush.rectangle((0, 0, 640, 60), colour)
        elif index == 1:
            for line in range(6):
                brush.rectangle((40, 90 + 22 * line, 300 - 17 * (line % 3), 98 + 22 * line), "#555")
        else:
            left = 340 + 90 * (index - 2)
            brush.rectangle((left, 90, left + 78, 220), (60 * index, 160, 220 - 40 * index))
        pictures.append(np.array(picture))
    return encode(pictures), pictures[-1]
