"""`eyelevel doctor`: what this machine has and lacks, each with its remedy."""

import os
import pwd
import shutil
import subprocess
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.binary import REMEDY, run_tool
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.cli.output import coloured, print_json, results, table
from eyelevel.confinement import UNSAFE_VARIABLE, confined, is_unsafe, unprivileged_user
from eyelevel.errors import BrowserStartError, ConfinementError, LabError
from eyelevel.json_types import JsonObject
from eyelevel.run.study.cores import Processors

EXIT_CANNOT_RUN = 1
CORES_MIN = 2
LOAD_PER_CORE_MAX = 0.5
NEEDED_CONTROLS = ("cubic",)
WANTED_CONTROLS = ("bbr", "reno")
_VERSION_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Finding:
    """One thing that a run needs or profits from. `state`: ok, worse (a run works), missing."""

    name: str
    state: str
    found: str
    remedy: str = ""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what this machine has and lacks for a run; exits 1 if a run could not work."""
    findings = examine()
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        shown = table("", "what", "found", "remedy")
        colours = {"ok": "green", "worse": "yellow", "missing": "red"}
        for finding in findings:
            mark = coloured(finding.state, colours[finding.state])
            shown.add_row(mark, finding.name, finding.found, finding.remedy)
        results.print(shown)
    if any(finding.state == "missing" for finding in findings):
        raise typer.Exit(EXIT_CANNOT_RUN)


def examine() -> list[Finding]:
    """All findings, in the order in which a run needs the things."""
    try:
        kernel = run_tool(["doctor"])
    except LabError as error:
        return [Finding("eyelevel-lab", "missing", str(error), REMEDY)]
    return [
        Finding("eyelevel", "ok", version("eyelevel")),
        _lab(kernel),
        _user_namespaces(kernel),
        _tun(kernel["lab_failure"] is None),
        *_congestion_controls(kernel["tcp_congestion_controls"]),
        _realtime(kernel["realtime_allowed"]),
        _confinement(),
        _chromium(),
        _firefox(),
        _cores(),
        _load(),
    ]


def _lab(kernel: JsonObject) -> Finding:
    failure = kernel["lab_failure"]
    if failure is None:
        return Finding("a lab", "ok", "can be built")
    return Finding("a lab", "missing", failure, "see the lines below")


def _user_namespaces(kernel: JsonObject) -> Finding:
    name = "user namespaces"
    if os.geteuid() == 0:
        return Finding(name, "ok", "not needed as root")
    if kernel["lab_failure"] is None:
        return Finding(name, "ok", "allowed")
    remedy = (
        "as root: sysctl -w user.max_user_namespaces=10000 "
        "kernel.apparmor_restrict_unprivileged_userns=0"
    )
    return Finding(name, "worse", "may be refused to this user", remedy)


def _tun(lab_can_be_built: bool) -> Finding:
    device = Path("/dev/net/tun")
    # A virtual Ethernet pair stands in for it, at a higher cost in processor time.
    state = "worse" if lab_can_be_built else "missing"
    if not device.exists():
        remedy = "as root: modprobe tun; in a container start it with --device /dev/net/tun"
        return Finding("TUN", state, f"{device} is absent", remedy)
    if not os.access(device, os.R_OK | os.W_OK):
        return Finding("TUN", state, f"{device} is closed", f"as root: chmod 0666 {device}")
    return Finding("TUN", "ok", str(device))


def _congestion_controls(available: list[str]) -> list[Finding]:
    findings = []
    for name in (*NEEDED_CONTROLS, *WANTED_CONTROLS):
        title = f"TCP congestion control {name}"
        if name in available:
            findings.append(Finding(title, "ok", "available"))
            continue
        state = "missing" if name in NEEDED_CONTROLS else "worse"
        remedy = f"as root: modprobe tcp_{name}"
        findings.append(Finding(title, state, "absent: its stacks cannot run", remedy))
    return findings


def _realtime(allowed: bool) -> Finding:
    if allowed:
        return Finding("real-time priority", "ok", "allowed")
    remedy = "run as root, or as root: setcap cap_sys_nice+ep on eyelevel-lab"
    state = "refused: on a busy machine packets may be released late, and servers wait their turn"
    return Finding("real-time priority", "worse", state, remedy)


def _confinement() -> Finding:
    """Whether a program can be confined: a browser's own sandbox needs no less of the kernel."""
    name = "the browser's sandbox"
    if is_unsafe():
        return Finding(name, "worse", f"not used: {UNSAFE_VARIABLE} is set", "unset it")
    without = "--unsafe-browser goes without: only for pages of your own"
    try:
        # What browsers do next: a user namespace in ours.
        command = [*confined((), []), "unshare", "--user", "--net", "true"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=False
        )
    except (ConfinementError, LabError) as error:
        return Finding(name, "missing", str(error), without)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, "missing", f"could not be tried: {error}", without)
    if done.returncode != 0:
        return Finding(name, "missing", done.stderr.strip().split("\n")[-1], without)
    user = unprivileged_user()
    return Finding(name, "ok", f"runs as {pwd.getpwuid(user[0]).pw_name}" if user else "allowed")


def _chromium() -> Finding:
    binary = shutil.which("chromium")
    if binary is None:
        return Finding("Chromium", "missing", "absent", "as root: apt-get install chromium")
    try:
        done = subprocess.run(
            [binary, "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("Chromium", "missing", str(error), "as root: apt-get install chromium")
    if done.returncode != 0:
        reason = done.stderr.strip().split("\n")[-1]
        return Finding("Chromium", "missing", reason, "as root: apt-get install chromium")
    return Finding("Chromium", "ok", done.stdout.strip())


def _firefox() -> Finding:
    """The second browser, with what films it."""
    packages = {"Xvfb": "xvfb", "certutil": "libnss3-tools", "ffmpeg": "ffmpeg"}
    absent = [package for program, package in packages.items() if shutil.which(program) is None]
    try:
        firefox = find_firefox()
    except BrowserStartError:
        absent.insert(0, "firefox-esr")
    if absent:
        remedy = f'for `browser = "firefox"`, as root: apt-get install {" ".join(absent)}'
        return Finding("Firefox", "worse", f"absent: {', '.join(absent)}", remedy)
    return Finding("Firefox", "ok", firefox)


def _cores() -> Finding:
    usable = Processors.usable()
    if usable.count >= CORES_MIN:
        return Finding("cores", "ok", str(usable))
    return Finding("cores", "worse", str(usable), f"browser and servers want {CORES_MIN}")


def _load() -> Finding:
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    if load <= LOAD_PER_CORE_MAX * cores:
        return Finding("load", "ok", f"{load:.2f}")
    remedy = "wait until the machine is quiet: starved loads are excluded"
    return Finding("load", "worse", f"{load:.2f} on {cores} cores", remedy)
