"""A release of parts that are built already: what it consists of, and what it is refused for."""

import hashlib
import os
import subprocess
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from repository import ROOT

from scripts.shipping import glibc, one_version, release, source_archive

pytestmark = pytest.mark.full

NUMBER = one_version.workspace_version(ROOT)
MACHINE = os.uname().machine
WHEEL = f"eyelevel-{NUMBER}-py3-none-manylinux_2_99_{MACHINE}.whl"
"""Of a glibc to come: the binary is this machine's own build."""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    """The source distribution as it is released."""
    if not (Path(sysconfig.get_path("scripts")) / "maturin").exists():
        pytest.skip("there is no maturin beside this Python")
    return source_archive.build(tmp_path_factory.mktemp("sdist"), ROOT)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel of this tree's package and this machine's own binary."""
    binary = Path(sysconfig.get_path("scripts")) / glibc.BINARY
    if MACHINE != "x86_64" or not binary.exists():
        pytest.skip(f"there is no {glibc.BINARY} for x86_64 beside this Python")
    made = tmp_path_factory.mktemp("wheel") / WHEEL
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.write(binary, f"eyelevel-{NUMBER}.data/scripts/{glibc.BINARY}")
        for name in source_archive.tracked(ROOT):
            if name.startswith(source_archive.PACKAGE):
                pack.write(ROOT / name, name.removeprefix("python/"))
    return made


@pytest.fixture
def parts(wheel: Path, sdist: Path, tmp_path: Path) -> Path:
    """A folder with what a build leaves: a wheel, the source, an image."""
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / WHEEL).symlink_to(wheel)
    (folder / sdist.name).symlink_to(sdist)
    (folder / f"eyelevel-{NUMBER}-image.tar").write_bytes(b"an image")
    return folder


def released(parts: Path, *without: str) -> tuple[int, str, Path]:
    out = parts.parent / "out"
    command = [ROOT / "scripts" / "release", "--dirty", "--from", parts]
    command += ["--out", out, *(word for each in without for word in ("--without", each))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr, out


def test_it_has_every_part_and_the_sum_of_each(parts):
    status, said, out = released(parts, "aarch64")
    assert status == 0, said
    bill = WHEEL.replace(".whl", ".cdx.json")
    names = {WHEEL, bill, f"eyelevel-{NUMBER}.tar.gz", f"eyelevel-{NUMBER}-image.tar"}
    names |= {"changes.md", "tag.txt"}
    assert {file.name for file in out.iterdir()} == names | {"SHA256SUMS"}
    sums = dict(
        reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines()
    )
    assert sums == {it: hashlib.sha256((out / it).read_bytes()).hexdigest() for it in names}
    first, empty, *rest = (out / "tag.txt").read_text().splitlines()
    assert (first, empty) == (f"eyelevel {NUMBER}", "") and rest
    assert (out / "changes.md").read_text().strip() in (ROOT / "CHANGELOG.md").read_text()
    assert "nothing is published" in said and f"git push origin v{NUMBER}" in said
    assert f"gh release create v{NUMBER}" in said


def test_nothing_is_emptied_but_an_earlier_release(parts):
    def refused(*words):
        command = [ROOT / "scripts" / "release", "--dirty", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stderr

    before = sorted(parts.iterdir())
    status, said = refused("--from", parts, "--out", parts)
    assert status == 1 and "is where the parts are" in said
    mine = parts.parent / "mine"
    mine.mkdir()
    (mine / "thesis.txt").touch()
    status, said = refused("--from", parts, "--out", mine)
    assert status == 1 and "holds something else than a release" in said
    assert (mine / "thesis.txt").exists()
    status, said = refused("--without", "x86_64", "--out", parts / "new")
    assert status == 1 and "add --without image" in said
    assert sorted(parts.iterdir()) == before


def test_a_changelog_without_the_day_is_refused_except_in_a_try(parts):
    if not one_version.undated(ROOT, NUMBER):
        pytest.skip("this tree is a release's: its changelog is dated")
    command = [ROOT / "scripts" / "release", "--from", parts, "--out", parts.parent / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1 and f"has no date for {NUMBER}" in done.stderr
    assert not (parts.parent / "out").exists()


def test_a_part_that_is_missing_or_there_twice_is_refused(parts):
    status, said, _ = released(parts)
    assert status == 1 and "has 0 of *_aarch64.whl" in said
    (parts / WHEEL.replace("2_99", "2_98")).symlink_to(parts / WHEEL)
    status, said, _ = released(parts, "aarch64")
    assert status == 1 and "has 2 of *_x86_64.whl" in said


def test_the_plain_build_of_this_machine_is_refused(parts):
    (parts / WHEEL).rename(parts / WHEEL.replace("2_99", "2_28"))
    status, said, out = released(parts, "aarch64", "image", "sdist")
    assert status == 1 and "it needs GLIBC_2.34" in said
    assert not (out / "SHA256SUMS").exists(), "a refused release looks like none"


def test_a_wheel_that_is_too_large_or_of_another_version_is_refused(parts, monkeypatch):
    monkeypatch.setattr(release, "WHEEL_BYTES_MAX", 1000)
    for part in parts.glob("*.tar*"):
        part.unlink()
    (fault,) = release.faults(parts, NUMBER, ROOT)
    assert "more than 1000 bytes" in fault
    other = parts / WHEEL.replace(NUMBER, "9.9.9")
    (parts / WHEEL).rename(other)
    monkeypatch.undo()
    assert f"{other.name}: it is not of version {NUMBER}" in release.faults(parts, NUMBER, ROOT)


def test_a_wheel_of_other_sources_is_refused(parts, tmp_path):
    changed = {"eyelevel/base/errors.py": b"# of yesterday", "eyelevel/py.typed": None}
    old = tmp_path / WHEEL
    with zipfile.ZipFile(parts / WHEEL) as pack, zipfile.ZipFile(old, "w") as made:
        for name in pack.namelist():
            content = changed.get(name, pack.read(name))
            if content is not None:
                made.writestr(name, content)
    assert source_archive.faults_of_package(parts / WHEEL, ROOT) == []
    assert source_archive.faults_of_package(old, ROOT) == [
        "eyelevel/base/errors.py is another than here",
        "eyelevel/py.typed is missing",
    ]


def test_the_source_has_all_that_a_wheel_is_made_of_and_nothing_else(sdist):
    assert source_archive.faults(sdist, ROOT) == []


@pytest.mark.parametrize(
    "lost",
    [
        ".cargo/config.toml",
        "packaging/eyelevel.data/scripts/eyelevel",
        "python/eyelevel/base/lab_tables.json",
        "python/eyelevel/sites/shipped/agency.wacz",
        "crates/netns/src/lib.rs",
        "LICENSE-MIT",
    ],
)
def test_a_source_that_lacks_something_is_refused(sdist, tmp_path, lost):
    short = changed(sdist, tmp_path, lambda name: None if name == lost else name)
    assert source_archive.faults(short, ROOT) == [f"{lost} is missing"]


def test_what_nobody_committed_is_seen_and_what_was_altered(sdist, tmp_path):
    junk = changed(sdist, tmp_path, lambda name: "notes.txt" if name == "PKG-INFO" else name)
    assert source_archive.faults(junk, ROOT) == ["notes.txt is not under version control"]
    swap = {"LICENSE-MIT": "LICENSE-APACHE", "LICENSE-APACHE": "LICENSE-MIT"}
    altered = changed(sdist, tmp_path, lambda name: swap.get(name, name))
    wrong = source_archive.faults(altered, ROOT)
    assert wrong == [f"{name} is another than here" for name in sorted(swap)]


def test_a_command_that_could_not_be_started_is_seen(sdist, tmp_path):
    plain = changed(sdist, tmp_path, lambda name: name, mode=0o644)
    servers = ("caddy", "envoy", "interop", "nginx")
    recipes = [f"python/eyelevel/load/recipes/{name}" for name in servers]
    commands = ["packaging/eyelevel.data/scripts/eyelevel", *recipes]
    assert source_archive.faults(plain, ROOT) == [
        f"{name} is no program there" for name in commands
    ]


def changed(sdist: Path, folder: Path, renamed, mode: int | None = None) -> Path:
    """A copy of an archive with members of other names or of one mode, or without them."""
    made = folder / "changed.tar"
    with tarfile.open(sdist) as old, tarfile.open(made, "w") as new:
        for member in old:
            top, _, name = member.name.partition("/")
            kept = renamed(name)
            if kept is not None:
                content = old.extractfile(member)
                member.name = f"{top}/{kept}"
                member.mode = member.mode if mode is None else mode
                new.addfile(member, content)
    return made
