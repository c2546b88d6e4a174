import os
import pwd

import pytest

from eyelevel.base.errors import ConfinementError
from eyelevel.lab import confinement
from eyelevel.lab.confinement import (
    UNSAFE_VARIABLE,
    USER_VARIABLE,
    beside_the_system,
    confine,
    find_unprivileged_user,
    hand_over,
    path_in_view,
)

NOBODY = pwd.struct_passwd(("nobody", "x", 65534, 65534, "", "/", "/bin/false"))
ROOT = pwd.struct_passwd(("root", "x", 0, 0, "", "/root", "/bin/sh"))


@pytest.fixture
def as_root(monkeypatch):
    """Root of a machine whose users are a table."""
    users = {"nobody": NOBODY, "root": ROOT}
    monkeypatch.setattr(confinement, "missing_capabilities", list)
    monkeypatch.setattr(confinement, "_is_only_user", lambda: False)
    monkeypatch.setattr(pwd, "getpwnam", lambda name: users[name])
    monkeypatch.delenv(USER_VARIABLE, raising=False)
    monkeypatch.delenv(UNSAFE_VARIABLE, raising=False)
    monkeypatch.setattr(confinement, "find_binary", lambda: "eyelevel-lab")
    return users


def test_roots_browser_is_nobody(as_root, tmp_path):
    command = ("eyelevel-lab", "confine", "--user", "65534:65534", "--writable", str(tmp_path))
    assert confine((), [tmp_path]) == (*command, "--")


def test_a_user_of_ones_own_comes_first(as_root, monkeypatch):
    as_root["eyelevel"] = pwd.struct_passwd(("eyelevel", "x", 900, 901, "", "/", "/bin/false"))
    assert find_unprivileged_user() == (900, 901)
    monkeypatch.setenv(USER_VARIABLE, "nobody")
    assert find_unprivileged_user() == (65534, 65534)


@pytest.mark.parametrize("named", ["root", "absent"])
def test_root_without_an_unprivileged_user_starts_nothing(as_root, monkeypatch, named):
    monkeypatch.setenv(USER_VARIABLE, named)
    with pytest.raises(ConfinementError, match="--unsafe-browser"):
        confine((), [])


def test_an_ordinary_user_stays_himself(as_root, monkeypatch, tmp_path):
    monkeypatch.setattr(confinement, "missing_capabilities", lambda: ["SYS_ADMIN"])
    monkeypatch.setattr(os, "chown", None)
    prefix = ("enter", "--")
    readable = [tmp_path]
    wanted = (*prefix, "eyelevel-lab", "confine", "--readable", str(tmp_path), "--")
    assert confine(prefix, [], readable) == wanted
    hand_over(tmp_path)


def test_root_of_a_namespace_without_others_is_an_ordinary_user(as_root, monkeypatch):
    monkeypatch.setattr(confinement, "_is_only_user", lambda: True)
    assert find_unprivileged_user() is None


def test_a_path_is_seen_at_another_place(as_root, tmp_path):
    command = confine((), [], placed={"/www": tmp_path})
    assert command[-3:] == ("--placed", f"{tmp_path}=/www", "--")


def test_all_of_a_folder_is_handed_over_and_no_link_is_followed(as_root, monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(os, "chown", lambda *call, **how: given.append((call, how)))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "link").symlink_to(outside)
    hand_over(folder)
    assert {call[0] for call, _ in given} == {folder, folder / "below", folder / "link"}
    assert {call[1:] for call, _ in given} == {(65534, 65534)}
    assert all(how == {"follow_symlinks": False} for _, how in given)


def test_who_says_so_goes_without(as_root, monkeypatch, tmp_path):
    monkeypatch.setenv(UNSAFE_VARIABLE, "1")
    assert confine(("enter", "--"), [tmp_path]) == ("enter", "--")
    as_root.clear()
    hand_over(tmp_path)


def test_a_program_elsewhere_brings_its_folder(tmp_path):
    program = tmp_path / "chrome"
    program.touch()
    link = tmp_path / "link"
    link.symlink_to(program)
    assert beside_the_system(str(link)) == (tmp_path.resolve(),)
    assert beside_the_system("/usr/bin/env") == ()


def test_a_program_that_lies_in_a_home_shows_none_of_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for place in (tmp_path / "home", tmp_path):
        place.mkdir(exist_ok=True)
        (place / "chrome").touch()
        with pytest.raises(ConfinementError, match="its own folder"):
            beside_the_system(str(place / "chrome"))
    own = tmp_path / "home" / "browser"
    own.mkdir()
    assert beside_the_system(str(own / "chrome")) == (own,)


def test_a_link_outside_of_the_system_is_started_as_what_it_leads_to(tmp_path):
    (tmp_path / "chrome").touch()
    (tmp_path / "link").symlink_to(tmp_path / "chrome")
    assert path_in_view(str(tmp_path / "link")) == str((tmp_path / "chrome").resolve())
    assert path_in_view("/usr/bin/env") == "/usr/bin/env"


def test_a_user_without_a_home_has_none_to_show(monkeypatch, tmp_path):
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert beside_the_system(str(tmp_path / "chrome")) == (tmp_path.resolve(),)
