"""The evidence about this machine that is collected before its first block."""

import hashlib
import platform
import subprocess
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import distributions
from pathlib import Path

import eyelevel
from eyelevel.analysis.trials.starvation import judge_alone
from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.browser.browsers import find_browser
from eyelevel.calibration.measuring.measure import read_level, validate_level
from eyelevel.calibration.validation.path import short_validation
from eyelevel.calibration.validation.stacks import build, read_cells
from eyelevel.lab.binary import run_tool
from eyelevel.lab.confinement import is_unsafe
from eyelevel.load.trial import TrialResult, run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack
from eyelevel.plan.trials import Trial, expand
from eyelevel.run.block.attempts import RETRIES, with_retries
from eyelevel.run.study.cores import Processors
from eyelevel.run.study.prepare import cpu_model, first_line
from eyelevel.sites.recorded import open_site
from eyelevel.store.outcomes import COUNTED

TRIAL_SITE, TRIAL_NETWORK, TRIAL_STACK = "dashboard", "lte", "tcp+"
TRIAL_LOADS, TRIAL_LOADS_SEED = 5, 1
"""Enough loads for a median, of a site with scripts, so that a slow processor shows."""
DIGEST_HEX = 16
LISTING_TIMEOUT_S = 20.0


@cache
def machine_facts(browser: Browser) -> dict[str, str]:
    """Return the facts that are equal on all machines of a class, by their names in messages."""
    built, kernel = build(), run_tool(["doctor"])
    return {
        "eyelevel": f"{built['eyelevel']} of {_code()}",
        "eyelevel-lab": str(built["binary"]),
        "installed packages": _packages(),
        "browser": first_line([find_browser(browser), "--version"]),
        "kernel": f"{platform.release()} ({platform.version()})",
        "processor": cpu_model(),
        # Of this slot's process: two cores of several slots, or all cores of a single one.
        "cores a slot": str(Processors.usable()),
        "real-time permission": "yes" if kernel["realtime_allowed"] else "no",
        # Packets take another path through a virtual Ethernet pair.
        "path's device": str(kernel["path_device"]),
        "browser's sandboxes": "no" if is_unsafe() else "yes",
        "fonts": _fonts(),
    }


@cache
def machine_problems() -> tuple[str, ...]:
    """Return the reasons why loads are impossible or invalid here, a sentence each."""
    doctor = run_tool(["doctor"])
    if doctor["lab_failure"] is not None:
        return (f"no lab can be built: {doctor['lab_failure']}; run eyelevel doctor there",)
    return tuple(
        f"its emulated path is not exact: {name} {check['measured']} (bound: {check['bound']}); "
        "run eyelevel validate path there, with nothing beside it"
        for name, check in _path_checks().items()
        if check["passed"] is False
    )


def read_measurements(pairs: Sequence[tuple[Stack, Stack]]) -> JsonObject:
    """Return the measurements made here before the first block.

    They have the form of `environment.json` in a run without a cluster.
    """
    levels = [level for pair in pairs if (level := read_level(*pair))]
    return {
        "path_checks": _path_checks(),
        "stacks_validated": [cell.as_json() for cell in read_cells()],
        "levels": [level.as_json() for level in levels],
    }


_path_checks = cache(short_validation)


@cache
def slot_loads(run: Callable[[Trial, str], TrialResult] = run_trial) -> list[tuple[float, float]]:
    """Return the page load time in ms and the CPU time in s of each trial load on this slot.

    A starved load, and one without values, is repeated once: nothing is compared here. Raises
    LabError if one fails.
    """
    site = open_site(TRIAL_SITE)
    network, stack = NETWORKS_BY_NAME[TRIAL_NETWORK], STACKS_BY_NAME[TRIAL_STACK]
    plan = one_cell(site.name, [network], stack, TRIAL_LOADS, TRIAL_LOADS_SEED)
    trials = expand(plan, [site.of_plan()])
    loads = [partial(run, trial, str(site.path)) for trial in trials]
    return [_times(_load_undisturbed(load).record) for load in loads]


def _load_undisturbed(load: Callable[[], TrialResult]) -> TrialResult:
    result = with_retries(load, RETRIES)
    return load() if judge_alone(result.record)[0] == "starved" else result


def _times(record: JsonMapping) -> tuple[float, float]:
    outcome, detail = judge_alone(record)
    if outcome not in COUNTED:
        raise LabError(
            f"a trial load of {TRIAL_SITE} was {outcome}: {detail}; "
            f"try it with `eyelevel load {TRIAL_SITE}`"
        )
    processor_s = record["browser"]["cpu_s"] + (record["host"].get("server_cpu_s") or 0.0)
    return record["navigation"]["page_load_time_ms"], processor_s


def _code() -> str:
    """Return a digest of our code: in a source tree many states share a version."""
    digest = hashlib.sha256()
    package = Path(eyelevel.__file__).parent
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes())
    return f"digest {digest.hexdigest()[:DIGEST_HEX]}"


def level_facts(pairs: Sequence[tuple[Stack, Stack]]) -> dict[str, str]:
    """Return the aspects in which compared stacks are unequal here, measuring them if needed.

    Intended or not, they are the same on all machines of a class.
    """
    found = {}
    for first, second in pairs:
        level = read_level(first, second)
        if level is None or not level.complete:
            level = validate_level(first, second, lambda _: None)
        unequal = [row.aspect for row in level.rows if row.word == "unequal"]
        found[f"level of {first.name} and {second.name}"] = ", ".join(unequal) or "equal"
    return found


def _packages() -> str:
    names = sorted({f"{each.name.lower()}=={each.version}" for each in distributions()})
    return _digest(names)


def _fonts() -> str:
    try:
        listed = subprocess.run(
            ["fc-list", "--format", "%{file}\\n"],
            capture_output=True, text=True, timeout=LISTING_TIMEOUT_S, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    files = sorted(Path(line) for line in listed.splitlines())
    return _digest([f"{file.name} {file.stat().st_size}" for file in files if file.is_file()])


def _digest(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    return f"{len(lines)} of digest {hashlib.sha256(text.encode()).hexdigest()[:DIGEST_HEX]}"
