"""What a wheel's name promises of its binary: two made libraries, and the binary of this build."""

import os
import shutil
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import pytest

from scripts.shipping import glibc

HERE = (9, 99)
"""A glibc that has every symbol."""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A library that needs what glibc has had since 1997, for any machine."""
    if not (shutil.which("cc") and shutil.which("readelf")):
        pytest.skip("there is no cc or no readelf")
    folder = tmp_path_factory.mktemp("library")

    def make(code: str, *options: str) -> Path:
        (folder / "it.c").write_text(code)
        made = folder / "it.so"
        command = ["cc", "-shared", "-fPIC", "-nostartfiles", "-o", made, "it.c", *options]
        subprocess.run(command, cwd=folder, check=True)
        return made

    return make


OLD = 'int puts(const char *); int greet(void) { return puts(""); }'
LATE = OLD + "int getentropy(void *, unsigned long); int two(void) { return getentropy(0, 0); }"
"""`getentropy` is of glibc 2.25."""
ARCHITECTURE = os.uname().machine


def test_what_was_there_in_time_is_accepted(library):
    assert glibc.faults(library(OLD), (2, 24), ARCHITECTURE) == []


def test_a_later_symbol_is_refused(library):
    assert glibc.faults(library(LATE), (2, 24), ARCHITECTURE) == ["it needs GLIBC_2.25"]
    assert glibc.faults(library(LATE), (2, 25), ARCHITECTURE) == []


def test_another_machine_is_refused(library):
    other = next(each for each in glibc.MACHINES if each != ARCHITECTURE)
    (fault,) = glibc.faults(library(OLD), HERE, other)
    assert f"not for {other}" in fault


def test_a_library_that_not_every_linux_has_is_refused(library, tmp_path):
    (tmp_path / "mine.c").write_text("int mine(void) { return 1; }")
    command = ["cc", "-shared", "-fPIC", "-o", tmp_path / "libmine.so.1", tmp_path / "mine.c"]
    command += ["-Wl,-soname,libmine.so.1"]
    subprocess.run(command, check=True)
    code = OLD + " int mine(void); int two(void) { return mine(); }"
    made = library(code, str(tmp_path / "libmine.so.1"))
    (fault,) = glibc.faults(made, HERE, ARCHITECTURE)
    assert fault == "it needs libmine.so.1, which not every Linux has"


def test_what_is_no_dynamic_binary_is_refused(library):
    (fault,) = glibc.faults(library("int one(void) { return 1; }"), HERE, ARCHITECTURE)
    assert "no version of glibc" in fault


def of(name: str, content: Path, folder: Path) -> Path:
    wheel = folder / name
    with zipfile.ZipFile(wheel, "w") as pack:
        pack.write(content, f"eyelevel-0.1.0.data/scripts/{glibc.BINARY}")
    return wheel


def test_a_wheel_keeps_the_strictest_promise_of_its_name(library, tmp_path):
    both = (
        f"eyelevel-0.1.0-py3-none-manylinux_2_39_{ARCHITECTURE}.manylinux_2_24_{ARCHITECTURE}.whl"
    )
    wheel = of(both, library(LATE), tmp_path)
    assert glibc.promised(wheel) == ((2, 24), ARCHITECTURE)
    assert glibc.faults_of_wheel(wheel) == ["it needs GLIBC_2.25"]


def test_a_wheel_that_promises_nothing_is_refused(library, tmp_path):
    wheel = of("eyelevel-0.1.0-py3-none-linux_x86_64.whl", library(OLD), tmp_path)
    (fault,) = glibc.faults_of_wheel(wheel)
    assert "no manylinux" in fault


def test_the_plain_build_of_this_machine_is_no_wheel_for_everybody(tmp_path):
    """Debian 12's linker binds to glibc 2.34: `make wheel` without zig would pass this off."""
    binary = Path(sysconfig.get_path("scripts")) / glibc.BINARY
    if not binary.exists() or ARCHITECTURE != "x86_64":
        pytest.skip(f"there is no {glibc.BINARY} beside this Python, or not for x86_64")
    wheel = of("eyelevel-0.1.0-py3-none-manylinux_2_28_x86_64.whl", binary, tmp_path)
    assert "it needs GLIBC_2.34" in glibc.faults_of_wheel(wheel)
