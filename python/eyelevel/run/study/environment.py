"""The environment of a run, read once at its start."""

import os
import platform
import subprocess
from pathlib import Path

from eyelevel.base.json_types import JsonObject
from eyelevel.browser.browsers import find_browser
from eyelevel.lab.binary import find_binary, run_tool
from eyelevel.lab.confinement import is_unsafe, missing_capabilities
from eyelevel.load.trial import versions
from eyelevel.plan.browser import Browser

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
