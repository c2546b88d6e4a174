"""Finds what is missing in a source distribution, and what nobody put under version control.

    python -m scripts.shipping.source_archive dist/eyelevel-0.1.0.tar.gz

A wheel that is built from it has to be the one that is built here: the package with its sites, the
crates of the binary, what cargo and the wheel are told beside.
"""

import gzip
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

from scripts.arguments import ROOT
from scripts.shipping.sbom import PLATFORM, built_into

MADE = {"PKG-INFO"}
"""What the archive has and the repository has not."""
REWRITTEN = {"Cargo.toml", "crates/lab/Cargo.toml"}
"""maturin leaves out members that the binary is not built of, and sets paths anew."""
BESIDE = {
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "THIRD-PARTY-NOTICES.txt",
    "packaging/eyelevel.data/scripts/eyelevel",
    "pyproject.toml",
}
PACKAGE = "python/eyelevel/"


def build(folder: Path, root: Path) -> Path:
    """Make the source distribution in `folder`. Raises CalledProcessError.

    maturin forgets which files are programs: the command of a wheel that is built from its archive
    could not be started. So the archive is written anew, with the modes of `root`.
    """
    maturin = Path(sysconfig.get_path("scripts")) / "maturin"
    subprocess.run([maturin, "sdist", "--out", folder], cwd=root, check=True)
    (made,) = folder.glob("eyelevel-*[0-9].tar.gz")
    anew = made.with_suffix(".anew")
    with (
        tarfile.open(made) as old,
        anew.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in old:
            member.mode = 0o755 if is_program(root, member) else member.mode
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return anew.replace(made)


def is_program(root: Path, member: tarfile.TarInfo) -> bool:
    """Return whether it is one here."""
    here = root / member.name.partition("/")[2]
    return member.isfile() and here.is_file() and os.access(here, os.X_OK)


def tracked(root: Path) -> set[str]:
    """The files under version control."""
    command = ["git", "ls-files", "-z"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return {name for name in done.stdout.split("\0") if name}


def needed(root: Path, names: set[str]) -> set[str]:
    """Of `names` those that a wheel is built of."""
    crates = {
        str(Path(each["manifest_path"]).parent.relative_to(root))
        for each in built_into(root, PLATFORM)
        if each["source"] is None
    }
    inside = {
        name
        for name in names
        for crate in crates
        if name.startswith(f"{crate}/src/") or name == f"{crate}/Cargo.toml"
    }
    return inside | BESIDE | {name for name in names if name.startswith(PACKAGE)}


def faults(archive: Path, root: Path) -> list[str]:
    """What is wrong with the archive of `root`, a line each."""
    with tarfile.open(archive) as pack:
        members = {each.name.partition("/")[2]: each for each in pack if each.isfile()}
        names = tracked(root)
        found = [f"{name} is missing" for name in sorted(needed(root, names) - members.keys())]
        strange = sorted(members.keys() - names - MADE)
        found += [f"{name} is not under version control" for name in strange]
        for name in sorted((members.keys() & names) - REWRITTEN):
            content = pack.extractfile(members[name])
            if content is None or content.read() != (root / name).read_bytes():
                found.append(f"{name} is another than here")
            if is_program(root, members[name]) and not members[name].mode & 0o111:
                found.append(f"{name} is no program there")
    return found


def faults_of_package(wheel: Path, root: Path) -> list[str]:
    """Where the package in a wheel is another than that of `root`: one that was built earlier."""
    found = []
    with zipfile.ZipFile(wheel) as pack:
        inside = set(pack.namelist())
        for name in sorted(each for each in tracked(root) if each.startswith(PACKAGE)):
            member = name.removeprefix("python/")
            if member not in inside:
                found.append(f"{member} is missing")
            elif pack.read(member) != (root / name).read_bytes():
                found.append(f"{member} is another than here")
    return found


if __name__ == "__main__":
    wrong = [line for name in sys.argv[1:] for line in faults(Path(name), ROOT)]
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)
