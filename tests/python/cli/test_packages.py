"""What `doctor --fix` would do on systems that are made up of their os-release and managers."""

import pytest

from eyelevel.cli.doctor import MANAGERS, PACKAGES, is_snap, os_release, remedy

DEBIAN_12 = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'
UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n'
ZORIN = "ID=zorin\nID_LIKE='ubuntu debian'\n"
MINT = 'ID=linuxmint\nID_LIKE="ubuntu debian"\n'
FEDORA = "# a comment\nID=fedora\n"
ARCH = "ID=arch\n"
SUSE = 'ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n'
BOTH = ["Chromium", "fonts"]


def commands(absent, release, *managers):
    return [" ".join(each) for each in remedy(absent, os_release(release), managers).commands]


@pytest.mark.parametrize(
    ("release", "manager", "installs"),
    [
        (DEBIAN_12, "apt-get", "-y --no-install-recommends chromium fonts-liberation"),
        (MINT, "apt-get", "-y --no-install-recommends chromium fonts-liberation"),
        (FEDORA, "dnf", "-y chromium liberation-fonts"),
        (ARCH, "pacman", "chromium ttf-liberation"),
        (SUSE, "zypper", "chromium liberation-fonts"),
    ],
)
def test_each_system_gets_its_own_command(release, manager, installs):
    *before, last = commands(BOTH, release, manager)
    assert last.startswith(f"{manager} ") and last.endswith(installs)
    assert before == (["apt-get update -q"] if manager == "apt-get" else [])
    found = remedy(BOTH, os_release(release), [manager])
    assert not found.remarks
    assert found.is_tried == (manager == "apt-get"), "only what we ran is run for somebody"


@pytest.mark.parametrize("release", [UBUNTU, ZORIN])
def test_ubuntus_browsers_are_not_installed_but_their_way_out_is_named(release):
    found = remedy([*BOTH, "Firefox", "Xvfb"], os_release(release), ["apt-get"])
    assert found.commands[-1][-2:] == ("fonts-liberation", "xvfb")
    for what, remark in zip(("Chromium", "Firefox"), found.remarks, strict=True):
        assert f"{what} is a snap" in remark and "not tried on Ubuntu" in remark
    assert not remedy(["Chromium"], os_release(release), ["apt-get"]).commands


def test_without_a_known_manager_the_names_are_said():
    found = remedy(BOTH, {}, ["emerge"])
    assert not found.commands and not found.is_tried
    assert found.remarks[0].endswith("chromium fonts-liberation")


def test_nothing_absent_is_nothing_to_do():
    assert remedy([], os_release(DEBIAN_12), ["apt-get"]).commands == ()


def test_every_package_has_a_name_for_every_manager():
    assert sorted(manager.column for manager in MANAGERS.values()) == list(range(len(MANAGERS)))
    assert all(len(names) == len(MANAGERS) and all(names) for names in PACKAGES.values())


@pytest.mark.parametrize(
    ("executable", "resolved", "is_one"),
    [
        ("/snap/bin/chromium", "/usr/bin/snap", True),
        ("/usr/bin/firefox", "/snap/firefox/current/firefox.launcher", True),
        ("/usr/bin/chromium-browser", "/usr/bin/snap", True),
        ("/usr/lib/chromium/chromium", "/usr/lib/chromium/chromium", False),
        ("/home/snap/bin/chromium", "/home/snap/bin/chromium", False),
    ],
)
def test_a_snap_is_known_by_where_it_leads(executable, resolved, is_one):
    assert is_snap(executable, resolved) == is_one
