"""`scripts/system-packages` on machines that are made up of their programs, and Rust's version."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from repository import ROOT

NEEDED = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
TOOLS = "chromium cc ffmpeg firefox-esr Xvfb certutil iperf3"


class Machine:
    """All that is needed is there, but for Rust; `apt-get` has nothing to do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("sh", "env", "sed", "sort", "head", "id"):
            found = shutil.which(name)
            assert found is not None
            (folder / name).symlink_to(found)
        for name in (*TOOLS.split(), "apt-get"):
            self.has(name, "exit 0")
        # By its path: the one that a search finds may be a script that wants a whole system.
        self.has("python3", f'exec {sys.executable} "$@"')

    def has(self, name: str, does: str) -> None:
        (self.folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (self.folder / name).chmod(0o755)

    def asked(self) -> tuple[int, str]:
        done = subprocess.run(
            [ROOT / "scripts" / "system-packages"],
            env={"PATH": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("version", [NEEDED, f"{NEEDED}.0", "1.100.1", "2.0.0"])
def test_a_compiler_that_is_new_enough_will_do(machine, version):
    machine.has("cargo", f"echo 'cargo {version} (abc 2026-01-01)'")
    status, said = machine.asked()
    assert status == 0, said


@pytest.mark.parametrize("version", ["1.85.1", "1.88.0", "0.99.0"])
def test_debian_13s_compiler_is_too_old_and_the_line_says_where_another_is(machine, version):
    machine.has("cargo", f"echo 'cargo {version} (abc 2025-01-01)'")
    machine.has("apt-cache", "exit 0")
    status, said = machine.asked()
    (line,) = said.splitlines()
    assert status == 1 and f"Rust {NEEDED} or later, here is {version}" in line
    assert "apt-get install rustup && rustup toolchain install stable" in line


def test_debian_12_has_no_rustup_to_install(machine):
    machine.has("apt-cache", "exit 100")
    status, said = machine.asked()
    assert status == 1 and "here is none" in said and "rust-lang.org/tools/install" in said


def test_rustup_without_a_toolchain_has_no_compiler(machine):
    machine.has("cargo", "echo 'error: rustup could not choose a version of cargo' >&2; exit 1")
    machine.has("apt-cache", "exit 0")
    assert "rustup toolchain install stable" in machine.asked()[1]


def test_every_page_asks_for_the_same_compiler():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    said = {
        (page.name, version)
        for page in pages
        for version in re.findall(r"Rust (?:of )?(1\.\d+)", page.read_text(encoding="utf-8"))
    }
    assert ("README.md", NEEDED) in said
    assert {version for _, version in said} == {NEEDED}
