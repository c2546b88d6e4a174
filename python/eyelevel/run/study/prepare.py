"""Prepare a run's directory before its first load: write its plan and its environment.

The environment of a run, read once at its start.
"""

import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

from eyelevel.base.errors import StoreError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.browsers import find_browser
from eyelevel.calibration.measuring.measure import levels_of
from eyelevel.calibration.validation.path import short_validation
from eyelevel.calibration.validation.stacks import read_cells
from eyelevel.lab.binary import find_binary, run_tool
from eyelevel.lab.confinement import is_unsafe, missing_capabilities
from eyelevel.load.trial import versions
from eyelevel.plan.browser import Browser
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import Site, Trial, expand, plan_document, plan_hash
from eyelevel.run.study.time_limits import check_time_limits
from eyelevel.sites.contents import check_secure, secure_share
from eyelevel.sites.recorded import RecordedSite, key_recordings, read_alterations
from eyelevel.store.claim import claim
from eyelevel.store.commit import recover
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    FETCH_FILE,
    PLAN_FILE,
    create_document,
    read_document,
    write_document,
)
from eyelevel.store.environment import CLIENT


def prepare(
    plan: Plan,
    sites: Sequence[RecordedSite],
    directory: Path,
    *,
    resume: bool,
    loads_here: bool = True,
) -> list[Trial]:
    """Write `plan.json` and `environment.json`, and return the trials in their order.

    `loads_here`: False if other machines load, which have documents of their own.

    Raises StoreError if `directory` has another plan's run, or this one's without `resume`,
    PlanError if a site has no request that a stack could affect, BrowserStartError if there is no
    browser; nothing is written then.
    """
    for stack in plan.stacks:
        find_browser(plan.browser_of(stack.name))
    check_secure(plan.stacks, sites)
    check_time_limits(plan, sites)
    trials = begin_study(plan, [site.of_plan() for site in sites], directory, resume=resume)
    if not (directory / ENVIRONMENT_FILE).exists():
        environment = _check_measured(plan) if loads_here else _client(plan)
        recordings = key_recordings(sites, plan.variants)
        if altered := {
            key: change
            for key, site in recordings.items()
            if (change := read_alterations(site.path))
        }:
            environment["altered_sites"] = altered
        shares = {key: secure_share(site.path) for key, site in recordings.items()}
        if partly := {name: share for name, share in shares.items() if 0 < share < 1}:
            environment["secure_shares"] = partly
        write_document(directory, ENVIRONMENT_FILE, environment)
    return trials


def _check_measured(plan: Plan) -> JsonObject:
    own = read_variant_browsers(list_variant_browsers(plan))
    return (
        describe(plan.browser)
        | ({"variant_browsers": own} if own else {})
        | {
            "path_checks": short_validation(),
            "stacks_validated": [cell.as_json() for cell in read_cells()],
            "levels": levels_of(plan),
        }
    )


def list_variant_browsers(plan: Plan) -> tuple[tuple[str, Browser], ...]:
    """Return the variants with another browser or build than the plan's, with its settings."""
    return tuple(
        (each.name, each.browser.apply_to(plan.browser))
        for each in plan.variants
        if each.browser and (each.browser.browser or each.browser.chromium)
    )


def read_variant_browsers(browsers: Sequence[tuple[str, Browser]]) -> dict[str, str]:
    """Return the version of each variant's browser here.

    Raises BrowserStartError if one is absent.
    """
    return {name: first_line([find_browser(browser), "--version"]) for name, browser in browsers}


def _client(plan: Plan) -> JsonObject:
    """Return the environment of a client that only commits, in a key that marks it as such."""
    own = describe(plan.browser)
    return {"version": own.pop("version"), CLIENT: own}


def begin_study(plan: Plan, sites: Sequence[Site], directory: Path, *, resume: bool) -> list[Trial]:
    """Write `plan.json` if it is absent, and return the trials. Raises StoreError as `prepare`."""
    trials = expand(plan, sites)
    claim(directory)
    is_there = (directory / PLAN_FILE).exists()
    if not is_there:
        if (directory / FETCH_FILE).exists():
            raise StoreError(
                f"writing {directory}: it holds a partly fetched run; finish it with `eyelevel "
                "fetch`, or choose another --out"
            )
        # On a disk without locks another client may write it at this moment.
        is_there = not create_document(directory, PLAN_FILE, plan_document(plan, sites, trials))
    if is_there:
        there = read_document(directory, PLAN_FILE)
        if there.get("hash") != plan_hash(plan, sites):
            raise StoreError(
                f"writing {directory}: it holds the run of another plan; choose another --out"
            )
        if not resume:
            raise StoreError(
                f"writing {directory}: it holds this plan's run; continue it with --resume, "
                "or choose another --out"
            )
        recover(directory)
        (directory / FETCH_FILE).unlink(missing_ok=True)  # from now on it is no copy of another run
    return trials


_VERSION_TIMEOUT_S = 20.0


def describe(browser: Browser) -> JsonObject:
    """Return the content of `environment.json`: machine, kernel, versions, privileges.

    Raises BrowserStartError if there is no browser.
    """
    findings = run_tool(["doctor"])
    return {
        "version": 1,
        "versions": versions(first_line([find_browser(browser), "--version"])),
        "data_plane": first_line([find_binary(), "--version"]),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load_1min": os.getloadavg()[0],
        "system": _system_name(),
        "tcp_congestion_controls": findings["tcp_congestion_controls"],
        "realtime_allowed": findings["realtime_allowed"],
        "root": not missing_capabilities(),
        "confined": not is_unsafe(),
    }


def first_line(command: list[str]) -> str:
    """Return the first line that a command prints; empty if it cannot be run."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().split("\n", 1)[0]


def cpu_model() -> str:
    """Return the processor's name as the kernel reports it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def _system_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()
