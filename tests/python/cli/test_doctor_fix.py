"""`doctor --fix` on a system whose package manager only notes what it was asked to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import InstallError
from eyelevel.cli import doctor

UPDATE = "apt-get update -q"
INSTALL = "apt-get install -y --no-install-recommends chromium"


class System:
    """A Debian with an `apt-get` and a `sudo` of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.done = folder, folder / "done"
        (folder / "os-release").write_text("ID=debian\n")
        self.program("apt-get", "exit 0")
        self.program("sudo", 'echo as root >>"$0.used"; exec "$@"')

    def program(self, name: str, then: str) -> None:
        file = self.folder / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.done}\n{then}\n')
        file.chmod(0o755)

    def asked(self) -> list[str]:
        lines = self.done.read_text().splitlines() if self.done.exists() else []
        return [line for line in lines if line.startswith("apt-get")]


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    monkeypatch.setattr(doctor, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return System(tmp_path)


def test_the_commands_are_shown_and_then_done(system, capfd):
    doctor.fix(["Chromium"], yes=True)
    assert system.asked() == [UPDATE, INSTALL]
    shown = capfd.readouterr()
    assert shown.err.splitlines()[:2] == [f"$ {UPDATE}", f"$ {INSTALL}"] and shown.out == ""


def test_nothing_is_done_unasked(system, monkeypatch, capfd):
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        with pytest.raises(InstallError, match="add --yes"):
            doctor.fix(["Chromium"], yes=False)
    assert f"$ {INSTALL}" in capfd.readouterr().err and system.asked() == []


@pytest.mark.parametrize(("answer", "asked"), [(True, [UPDATE, INSTALL]), (False, [])])
def test_an_answer_decides(system, monkeypatch, answer, asked):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: answer)
    if answer:
        doctor.fix(["Chromium"], yes=False)
    else:
        with pytest.raises(InstallError, match="nothing was installed"):
            doctor.fix(["Chromium"], yes=False)
    assert system.asked() == asked


def test_an_ordinary_user_has_it_done_as_root(system, monkeypatch, capfd):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    doctor.fix(["Chromium"], yes=True)
    assert f"$ sudo {INSTALL}" in capfd.readouterr().err
    assert (system.folder / "sudo.used").exists() and system.asked() == [UPDATE, INSTALL]
    (system.folder / "sudo").unlink()
    monkeypatch.setenv("PATH", str(system.folder))
    with pytest.raises(InstallError, match="as root"):
        doctor.fix(["Chromium"], yes=True)


def test_old_lists_are_borne_and_a_failed_installation_is_not(system):
    system.program("apt-get", '[ "$1" = install ]')
    doctor.fix(["Chromium"], yes=True)
    system.program("apt-get", '[ "$1" != install ]')
    with pytest.raises(InstallError, match=r"apt-get install .* failed"):
        doctor.fix(["Chromium"], yes=True)


def test_a_manager_that_was_not_tried_is_not_run(system, monkeypatch, capfd):
    monkeypatch.setenv("PATH", str(system.folder))
    (system.folder / "apt-get").unlink()
    system.program("dnf", "exit 0")
    with pytest.raises(InstallError, match="not tried"):
        doctor.fix(["Chromium"], yes=True)
    assert "$ dnf install -y chromium" in capfd.readouterr().err and not system.done.exists()


def test_a_snap_is_no_browser(tmp_path, monkeypatch):
    snap = tmp_path / "chromium"
    snap.symlink_to(tmp_path / "usr-bin" / "snap")
    (tmp_path / "usr-bin").mkdir()
    (tmp_path / "usr-bin" / "snap").write_text("#!/bin/sh\necho Chromium 156\n")
    (tmp_path / "usr-bin" / "snap").chmod(0o755)
    monkeypatch.setenv("EYELEVEL_CHROMIUM", str(snap))
    (found,) = (each for each in doctor.examine() if each.name == "Chromium")
    assert found.state == "missing" and "snap" in found.found and "Ubuntu" in found.remedy
    assert "Chromium" in doctor.absent_packages(with_firefox=False)


def test_yes_without_fix_is_a_slip():
    command = [sys.executable, "-m", "eyelevel", "doctor", "--yes"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode == 2 and "--fix" in done.stderr
