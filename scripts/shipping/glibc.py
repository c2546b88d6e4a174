"""Refuses a wheel whose binary would not start where its name says: the glibc and the libraries.

    python -m scripts.shipping.glibc dist/eyelevel-0.1.0-py3-none-manylinux_2_28_x86_64.whl

`manylinux_2_28_x86_64` promises that no symbol of a glibc later than 2.28 is needed, no library
beyond those of every Linux (PEP 600), and that the binary is of that machine. readelf (binutils)
reads binaries of any machine.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

BINARY = "eyelevel-lab"
LIBRARIES = {"c", "dl", "gcc_s", "m", "pthread", "rt"}
"""The libraries of PEP 600's list that need no X11 or C++; the loader is always there."""
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
"""The names that readelf has for the architectures in tags."""

_TAG = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)$")
_SYMBOL = re.compile(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?")
_LIBRARY = re.compile(r"\(NEEDED\).*\[(?:lib(\w+)|ld-linux-[\w-]+)\.so\.\d+\]")
_ANY_LIBRARY = re.compile(r"\(NEEDED\).*\[(.+)\]")
_MACHINE = re.compile(r"^\s*Machine:\s+(.+)$", re.MULTILINE)

Version = tuple[int, int]


def promised(wheel: Path) -> tuple[Version, str]:
    """The glibc and the architecture that the name of a wheel promises.

    Raises ValueError if it promises none.
    """
    # A file may have several tags, of which each is a promise: the least glibc is the strictest.
    tags = [_TAG.match(each) for each in wheel.stem.rpartition("-")[2].split(".")]
    if not tags or None in tags:
        raise ValueError(f"{wheel.name} is for no manylinux: it starts where it was built")
    found = [(int(tag[1]), int(tag[2]), tag[3]) for tag in tags if tag is not None]
    major, minor, architecture = min(found)
    return (major, minor), architecture


def faults(binary: Path, glibc: Version, architecture: str) -> list[str]:
    """Return what a binary needs beyond that glibc on that architecture, one line each."""
    command = ["readelf", "--wide", "--file-header", "--dynamic", "--version-info", str(binary)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    machine = _MACHINE.search(said)
    if machine is None or machine[1] != MACHINES.get(architecture):
        found.append(f"it is for {machine and machine[1]}, not for {architecture}")
    needed = {(int(major), int(minor)) for major, minor in _SYMBOL.findall(said)}
    if not needed:
        found.append("it names no version of glibc: it is no dynamic binary of this kind")
    late = sorted(each for each in needed if each > glibc)
    found += [f"it needs GLIBC_{major}.{minor}" for major, minor in late]
    for line in said.splitlines():
        library, known = _ANY_LIBRARY.search(line), _LIBRARY.search(line)
        if library and not (known and (known[1] is None or known[1] in LIBRARIES)):
            found.append(f"it needs {library[1]}, which not every Linux has")
    return found


def faults_of_wheel(wheel: Path) -> list[str]:
    """Return the faults of the binary in a wheel, by what the wheel's name promises."""
    try:
        glibc, architecture = promised(wheel)
    except ValueError as error:
        return [str(error)]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as pack:
        (name,) = (each for each in pack.namelist() if each.endswith(f"/scripts/{BINARY}"))
        return faults(Path(pack.extract(name, folder)), glibc, architecture)


if __name__ == "__main__":
    wrong = [
        f"{wheel}: {fault}" for wheel in sys.argv[1:] for fault in faults_of_wheel(Path(wheel))
    ]
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)
