"""Check what this machine has and lacks, with remedies (`eyelevel doctor`).

Show the package manager's commands, and run them on consent (`eyelevel doctor --fix`).

Find the packages that install what doctor finds missing, by package manager; pure.

Debian's was tested. The others' names and commands are from their distributions' lists, so they are
shown but not run. Ubuntu's browsers are snaps: a snap has its own mounts and confinement, so it
does not run in a lab's network namespace, and Ubuntu has no other package of them.
"""

import os
import pwd
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import BrowserStartError, ConfinementError, InstallError, LabError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.process import find_executable
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.cli.output import WARNING_STYLE, colour, hints, print_json, results, say, table
from eyelevel.cli.realtime import GUIDE, hindrances, is_container, realtime_remedy
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
    listing = table("", "what", "found")
    colours = {"ok": "green", "warning": WARNING_STYLE, "missing": "red"}
    for finding in findings:
        listing.add_row(colour(finding.state, colours[finding.state]), finding.name, finding.found)
    results.print(listing)
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
        Finding(f"the container's {name}", "missing", reason, f"start it with {remedy} ({GUIDE})")
        for name, reason, remedy in hindrances()
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
            return Finding(name, "missing", f"a snap: {binary}", _SNAP_WAY_OUT.format(what=name))
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
        way_out = _SNAP_WAY_OUT.format(what="Firefox")
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


OS_RELEASE = Path("/etc/os-release")


def fix(absent: Sequence[str], yes: bool) -> None:
    """Install the packages for `absent`, keys of `packages.PACKAGES`; all output goes to stderr.

    Raises `InstallError` if that is not permitted, not possible, or declined.
    """
    system = os_release(OS_RELEASE.read_text(encoding="utf-8")) if OS_RELEASE.exists() else {}
    managers = [name for name in MANAGERS if shutil.which(name)]
    found = remedy(absent, system, managers)
    for remark in found.remarks:
        say(hints, remark)
    if not found.commands:
        if not found.remarks:
            say(hints, "nothing to install: browser and fonts are there")
        return
    before = () if os.geteuid() == 0 else ("sudo",)
    commands = [(*before, *command) for command in found.commands]
    for command in commands:
        say(hints, f"$ {shlex.join(command)}")
    if not found.is_tried:
        raise InstallError(
            "this command was not tried by us, so it is not done for you: run it as shown, then "
            "eyelevel doctor"
        )
    if before and shutil.which("sudo") is None:
        raise InstallError("nothing was installed: run the lines above as root, without sudo")
    _agree(yes)
    for command in commands:
        _run(command, may_fail=command is not commands[-1])


def _agree(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InstallError("nothing was installed: nobody can be asked here; add --yes")
    if not typer.confirm("Do this now?", default=True, err=True):
        raise InstallError("nothing was installed; run it again to be asked")


def _run(command: Sequence[str], *, may_fail: bool) -> None:
    """Run a command.

    `may_fail`: a failure to refresh the package lists is ignored, since installing from stale lists
    fails by itself.
    """
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # The package manager's output goes to stderr: standard output is for results.
    done = subprocess.run(command, env=environment, stdout=sys.stderr, check=False)
    if done.returncode != 0 and not may_fail:
        raise InstallError(
            f"{shlex.join(command)} failed, for the reason above: mend it, try again"
        )


@dataclass(frozen=True)
class Manager:
    """A package manager.

    `before` refreshes its lists; `is_tried` is whether we tested it.
    """

    before: tuple[str, ...]
    install: tuple[str, ...]
    column: int
    is_tried: bool = False


MANAGERS: dict[str, Manager] = {
    "apt-get": Manager(
        ("apt-get", "update", "-q"),
        ("apt-get", "install", "-y", "--no-install-recommends"),
        column=0,
        is_tried=True,
    ),
    "dnf": Manager((), ("dnf", "install", "-y"), column=1),
    "pacman": Manager((), ("pacman", "-S", "--needed", "--noconfirm"), column=2),
    "zypper": Manager((), ("zypper", "--non-interactive", "install"), column=3),
}
"""Package managers by program, in order of preference."""

PACKAGES: dict[str, tuple[str, str, str, str]] = {
    "Chromium": ("chromium", "chromium", "chromium", "chromium"),
    "fonts": ("fonts-liberation", "liberation-fonts", "ttf-liberation", "liberation-fonts"),
    "Firefox": ("firefox-esr", "firefox", "firefox", "MozillaFirefox"),
    "Xvfb": ("xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", "xorg-x11-server-Xvfb"),
    "certutil": ("libnss3-tools", "nss-tools", "nss", "mozilla-nss-tools"),
    "ffmpeg": ("ffmpeg", "ffmpeg-free", "ffmpeg", "ffmpeg"),
}
"""Package names for each missing item, one per manager."""

SNAPS = ("Chromium", "Firefox")
"""Browsers that Ubuntu installs as snaps."""
NO_SNAPS = ("linuxmint", "pop")
"""Derivatives of Ubuntu that package browsers themselves."""
_SNAP_WAY_OUT = (
    "Ubuntu's {what} is a snap, unfit for a lab: use the container image, or install a .deb of the "
    "browser's makers (Google Chrome, or Mozilla's firefox-esr); not tried on Ubuntu by us"
)


@dataclass(frozen=True)
class Remedy:
    """The remedy for missing items: commands in order, none if unknown, and remarks."""

    commands: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()
    is_tried: bool = False


def os_release(text: str) -> dict[str, str]:
    """Parse `/etc/os-release`; lines that are not assignments are ignored."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, sign, value in pairs if sign}


def has_snaps(system: Mapping[str, str]) -> bool:
    """Return whether the browsers in this system's package lists are snaps."""
    name = system.get("ID", "")
    kin = system.get("ID_LIKE", "").split()
    return name not in NO_SNAPS and "ubuntu" in (name, *kin)


def is_snap(executable: str, resolved: str) -> bool:
    """Return whether a program, given its path and the link's target, is a snap."""
    return (
        executable.startswith("/snap/")
        or resolved.startswith("/snap/")
        or (resolved.rpartition("/")[2] == "snap")
    )


def remedy(absent: Sequence[str], system: Mapping[str, str], managers: Sequence[str]) -> Remedy:
    """Return the remedy for `absent`, keys of `PACKAGES`, on a system with these managers."""
    snaps = [each for each in absent if each in SNAPS and has_snaps(system)]
    remarks = tuple(_SNAP_WAY_OUT.format(what=each) for each in snaps)
    wanted = [each for each in absent if each not in snaps]
    known = next((name for name in MANAGERS if name in managers), None)
    if not wanted:
        return Remedy(remarks=remarks)
    if known is None:
        names = " ".join(PACKAGES[each][0] for each in wanted)
        line = f"no package manager that is known here; in Debian's names: {names}"
        return Remedy(remarks=(*remarks, line))
    manager = MANAGERS[known]
    packages = [PACKAGES[each][manager.column] for each in wanted]
    commands = ((manager.before,) if manager.before else ()) + ((*manager.install, *packages),)
    return Remedy(commands, remarks, manager.is_tried)
