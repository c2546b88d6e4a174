"""Check what this machine has and lacks, with remedies (`eyelevel doctor`)."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import BrowserStartError, ConfinementError, LabError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.process import find_executable
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.cli.container import GUIDE, hindrances, is_container
from eyelevel.cli.doctor_fix import fix
from eyelevel.cli.output import WARNING_STYLE, colour, print_json, results, say, table
from eyelevel.cli.packages import PACKAGES, SNAP_WAY_OUT, is_snap
from eyelevel.cli.realtime import realtime_remedy
from eyelevel.lab.binary import REMEDY, run_tool
from eyelevel.lab.confinement import (
    UNSAFE_VARIABLE,
    confine,
    find_unprivileged_user,
    is_unsafe,
    missing_capabilities,
)
from eyelevel.run.study.cores import Processors

EXIT_CANNOT_RUN = 1
CORES_MIN = 2
LOAD_PER_CORE_MAX = 0.5
NEEDED_CONTROLS = ("cubic",)
WANTED_CONTROLS = ("bbr", "reno")
_VERSION_TIMEOUT_S = 20.0
FONT = "LiberationSans-Regular"
FONT_FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
INSTALLS = "eyelevel doctor --fix, or as root: apt-get install "


@dataclass(frozen=True)
class Finding:
    """One requirement of a run, or something it benefits from.

    `state`: ok, warning (a run works), or missing.
    """

    name: str
    state: str
    found: str
    remedy: str = ""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    is_fixing: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Install what is missing (browser and fonts) with the system's package "
            "manager. The commands are printed, and run once you agree.",
        ),
    ] = False,
    with_firefox: Annotated[
        bool, typer.Option("--firefox", help="With --fix: also install Firefox.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --fix: do not ask.")] = False,
) -> None:
    """Check whether this machine can run eyelevel, and say how to get what is missing.

    Exits 1 if a run could not work.
    """
    if (with_firefox or yes) and not is_fixing:
        raise typer.BadParameter("give --fix as well", param_hint="--firefox, --yes")
    if is_fixing:
        fix(absent_packages(with_firefox), yes)
    findings = examine()
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        show(findings)
    if any(finding.state == "missing" for finding in findings):
        raise typer.Exit(EXIT_CANNOT_RUN)


def show(findings: Sequence[Finding]) -> None:
    """Print a table, and below it the remedies unwrapped, so that commands can be copied."""
    shown = table("", "what", "found")
    colours = {"ok": "green", "warning": WARNING_STYLE, "missing": "red"}
    for finding in findings:
        shown.add_row(colour(finding.state, colours[finding.state]), finding.name, finding.found)
    results.print(shown)
    todo = [finding for finding in findings if finding.state != "ok"]
    if todo:
        results.print("\nWhat to do:")
    for finding in todo:
        say(results, f"  {finding.name}: {finding.remedy}")


def examine() -> list[Finding]:
    """Return all findings, in the order in which a run needs them."""
    try:
        kernel = run_tool(["doctor"])
    except LabError as error:
        return [Finding("eyelevel-lab", "missing", str(error), REMEDY)]
    lab, confinement = _lab(kernel), _confinement()
    works = "missing" not in (lab.state, confinement.state)
    return [
        Finding("eyelevel", "ok", version("eyelevel")),
        lab,
        _user_namespaces(kernel),
        _tun(kernel["lab_failure"] is None),
        *_congestion_controls(kernel["tcp_congestion_controls"]),
        _realtime(kernel["realtime_allowed"], kernel["reserves_core"]),
        confinement,
        *_container(works),
        _chromium(),
        _fonts(),
        _firefox(),
        _cores(),
        _load(),
    ]


def _lab(kernel: JsonObject) -> Finding:
    failure = kernel["lab_failure"]
    if failure is None:
        return Finding("a lab", "ok", "can be built")
    return Finding("a lab", "missing", failure, "do what the other lines say")


def _user_namespaces(kernel: JsonObject) -> Finding:
    name = "user namespaces"
    if not missing_capabilities():
        return Finding(name, "ok", "not needed: root's capabilities suffice")
    if kernel["lab_failure"] is None:
        return Finding(name, "ok", "allowed")
    remedy = (
        "as root: sysctl -w user.max_user_namespaces=10000 "
        "kernel.apparmor_restrict_unprivileged_userns=0"
    )
    return Finding(name, "warning", "may be refused to this user", remedy)


def _tun(lab_can_be_built: bool) -> Finding:
    device = Path("/dev/net/tun")
    # A virtual Ethernet pair replaces it, at a higher CPU cost.
    state = "warning" if lab_can_be_built else "missing"
    if not device.exists():
        remedy = "as root: modprobe tun; in a container start it with --device /dev/net/tun"
        return Finding("TUN", state, f"{device} is absent", remedy)
    if not os.access(device, os.R_OK | os.W_OK):
        return Finding("TUN", state, f"{device} may not be used", f"as root: chmod 0666 {device}")
    return Finding("TUN", "ok", str(device))


def _congestion_controls(available: list[str]) -> list[Finding]:
    findings = []
    for name in (*NEEDED_CONTROLS, *WANTED_CONTROLS):
        title = f"TCP congestion control {name}"
        if name in available:
            findings.append(Finding(title, "ok", "available"))
            continue
        state = "missing" if name in NEEDED_CONTROLS else "warning"
        remedy = f"as root: modprobe tcp_{name}"
        findings.append(Finding(title, state, "absent, so stacks that use it cannot run", remedy))
    return findings


def _realtime(allowed: bool, reserves_core: bool) -> Finding:
    if allowed:
        return Finding("real-time priority", "ok", "allowed")
    remedy = realtime_remedy(is_container(), is_root=not missing_capabilities())
    state = "refused: on a busy machine packets may be released late, and servers wait their turn"
    if reserves_core:
        state = "not allowed: each lab keeps one core to itself, and the browser gets the rest"
    return Finding("real-time priority", "warning", state, remedy)


def _confinement() -> Finding:
    """Return whether programs can be confined.

    A browser's own sandbox needs the same of the kernel.
    """
    name = "the browser's sandbox"
    if is_unsafe():
        return Finding(
            name, "warning", f"not used: {UNSAFE_VARIABLE} is set", f"unset {UNSAFE_VARIABLE}"
        )
    without = "--unsafe-browser goes without: only for pages of your own"
    try:
        # Browsers create a user namespace inside ours.
        command = [*confine((), []), "unshare", "--user", "--net", "true"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=False
        )
    except (ConfinementError, LabError) as error:
        return Finding(name, "missing", str(error), without)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, "missing", f"could not be tried: {error}", without)
    if done.returncode != 0:
        return Finding(name, "missing", done.stderr.strip().split("\n")[-1], without)
    user = find_unprivileged_user()
    return Finding(name, "ok", f"runs as {pwd.getpwuid(user[0]).pw_name}" if user else "allowed")


def _container(works: bool) -> list[Finding]:
    """Return a container's restrictions: harmless if everything works, otherwise likely causes."""
    if not is_container():
        return []
    if works:
        return [Finding("the container", "ok", "allows labs")]
    found = [
        Finding(f"the container's {name}", "missing", said, f"start it with {remedy} ({GUIDE})")
        for name, said, remedy in hindrances()
    ]
    return found or [Finding("the container", "missing", "forbids labs", f"see {GUIDE}")]


def absent_packages(with_firefox: bool) -> list[str]:
    """Return the missing items that packages can install, as keys of `packages.PACKAGES`."""
    needed = {"Chromium": _chromium().state == "ok", "fonts": _fonts().state == "ok"}
    absent = [name for name, is_there in needed.items() if not is_there]
    return absent + (_absent_for_firefox() if with_firefox else [])


def _chromium() -> Finding:
    name, remedy = "Chromium", INSTALLS + "chromium"
    try:
        binary = find_executable()
        if is_snap(binary, str(Path(binary).resolve())):
            return Finding(name, "missing", f"a snap: {binary}", SNAP_WAY_OUT.format(what=name))
        done = subprocess.run(
            [binary, "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except BrowserStartError:
        return Finding(name, "missing", "absent", remedy)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, "missing", str(error), remedy)
    if done.returncode != 0:
        return Finding(name, "missing", done.stderr.strip().split("\n")[-1], remedy)
    return Finding(name, "ok", done.stdout.strip())


def _fonts() -> Finding:
    """Check for the font family that makes pages look the same on all machines."""
    files = (file for folder in FONT_FOLDERS for file in folder.rglob(f"{FONT}.*"))
    if file := next(files, None):
        return Finding("fonts", "ok", str(file.parent))
    found = "Liberation is absent, so pages look different here than on other machines"
    return Finding("fonts", "warning", found, INSTALLS + "fonts-liberation")


def _firefox() -> Finding:
    """Return the findings on Firefox and the programs that record its screen."""
    absent = _absent_for_firefox()
    if absent:
        packages = " ".join(PACKAGES[each][0] for each in absent)
        remedy = 'for `browser = "firefox"`: eyelevel doctor --fix --firefox, or as root: '
        remedy += f"apt-get install {packages}"
        return Finding("Firefox", "warning", f"absent: {', '.join(absent)}", remedy)
    binary = find_firefox()
    if is_snap(binary, str(Path(binary).resolve())):
        way_out = SNAP_WAY_OUT.format(what="Firefox")
        return Finding("Firefox", "warning", f"a snap: {binary}", way_out)
    return Finding("Firefox", "ok", binary)


def _absent_for_firefox() -> list[str]:
    absent = [each for each in ("Xvfb", "certutil", "ffmpeg") if shutil.which(each) is None]
    try:
        find_firefox()
    except BrowserStartError:
        absent.insert(0, "Firefox")
    return absent


def _cores() -> Finding:
    usable = Processors.usable()
    if usable.count >= CORES_MIN:
        return Finding("cores", "ok", str(usable))
    return Finding(
        "cores",
        "warning",
        str(usable),
        f"give it {CORES_MIN} or more: the browser and the servers need one each",
    )


def _load() -> Finding:
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    if load <= LOAD_PER_CORE_MAX * cores:
        return Finding("load", "ok", f"{load:.2f}")
    remedy = "wait until the machine is quiet: loads that lack processor time are not counted"
    return Finding("load", "warning", f"{load:.2f} on {cores} cores", remedy)
