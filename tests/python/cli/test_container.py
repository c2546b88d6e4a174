"""Findings about containers, from files as podman, docker and plain machines have them."""

import pytest

from eyelevel.cli import doctor
from eyelevel.cli.realtime import MARKS, Hindrance, hindrances, is_container

WHOLE = "23 28 0:21 / /proc rw,nosuid - proc proc rw\n28 1 254:0 / / rw - ext4 /dev/vda rw\n"
BINFMT = "30 23 0:28 / /proc/sys/fs/binfmt_misc rw - binfmt_misc binfmt_misc rw\n"
MASKED = WHOLE + "".join(
    f"{number} 23 0:5 /null /proc/{name} rw - tmpfs tmpfs rw\n"
    for number, name in enumerate(("kcore", "keys", "acpi"), start=40)
)


@pytest.fixture
def process(tmp_path):
    """A process's folder of a plain machine."""

    def write(mountinfo=WHOLE + BINFMT, seccomp=0, profile="unconfined\n"):
        (tmp_path / "status").write_text(f"Name:\tx\nSeccomp:\t{seccomp}\nSeccomp_filters:\t1\n")
        (tmp_path / "mountinfo").write_text(mountinfo)
        (tmp_path / "attr").mkdir(exist_ok=True)
        (tmp_path / "attr" / "current").write_text(profile)
        return tmp_path

    return write


def test_a_plain_machine_hinders_nothing(process):
    assert hindrances(process()) == []


def test_each_hindrance_names_the_flag_that_takes_it_away(process):
    found = hindrances(process(MASKED, 2, "docker-default (enforce)\n"))
    assert [(each.name, each.found) for each in found] == [
        ("system calls", "a filter is in force"),
        ("/proc", "something is mounted over /proc/acpi and 2 more"),
        ("AppArmor", "the profile docker-default (enforce)"),
    ]
    flags = ("seccomp=", "unmask=/proc/*", "apparmor=unconfined")
    for each, flag in zip(found, flags, strict=True):
        assert "--security-opt" in each.remedy and flag in each.remedy
    assert "systempaths=unconfined" in found[1].remedy


def test_a_kernel_without_security_modules_has_no_profile(process):
    folder = process()
    (folder / "attr" / "current").unlink()
    assert hindrances(folder) == []


@pytest.mark.parametrize("mark", MARKS)
def test_a_container_is_known_by_its_mark(tmp_path, mark):
    assert not is_container(tmp_path)
    (tmp_path / mark.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / mark.lstrip("/")).touch()
    assert is_container(tmp_path)


def test_doctor_blames_a_container_only_if_something_fails(monkeypatch):
    monkeypatch.setattr(doctor, "is_container", lambda: True)
    monkeypatch.setattr(doctor, "hindrances", lambda: [Hindrance("/proc", "hidden", "--flag")])
    assert [each.state for each in doctor._container(works=True)] == ["ok"]
    (finding,) = doctor._container(works=False)
    assert finding.state == "missing" and "--flag" in finding.remedy
    monkeypatch.setattr(doctor, "is_container", lambda: False)
    assert doctor._container(works=False) == []
