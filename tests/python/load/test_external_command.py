"""The command of an external server is one of files that are there."""

from pathlib import Path

import pytest

from eyelevel.base.errors import LabError
from eyelevel.load import external_server


def test_files_of_a_command_are_named_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server").touch()
    (tmp_path / "site.conf").touch()
    command, paths = external_server._make_absolute(["./server", "-c", "site.conf", "./site.conf"])
    assert command == [str(tmp_path / "server"), "-c", "site.conf", str(tmp_path / "site.conf")]
    assert paths == [tmp_path / "server", tmp_path / "site.conf"]


def test_a_server_that_ends_is_given_the_name_that_finds_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").touch()
    output = tmp_path / "output"
    output.write_text("can't open file", encoding="utf-8")
    named = external_server._describe_end(["python3", "server.py"], output)
    assert named.endswith("said: can't open file; write `./server.py` for the file of that name")
    for command in (["python3", "./server.py"], ["python3", "other.py"]):
        assert external_server._describe_end(command, output).endswith("; correct its command")


def test_a_program_that_is_not_there_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refusal = f"server `./absent`: there is no such file, seen from {tmp_path}; correct its command"
    with pytest.raises(LabError, match=refusal):
        external_server._make_absolute(["./absent"])
    assert external_server._make_absolute(["caddy", "./none"]) == (["caddy", "./none"], [])
