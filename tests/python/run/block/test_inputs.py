"""Recordings and traces where they are loaded: seen there, or kept once they came."""

import hashlib

import pytest

from eyelevel.base.errors import InputChangedError, StoreError
from eyelevel.run.block import inputs
from eyelevel.run.block.inputs import Input, content_of, keep_input, resolve

CONTENT = b"a recording"


@pytest.fixture
def needed(tmp_path, monkeypatch):
    """A file of the client's, on a machine that has none of it yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(inputs, "_found", {})
    file = tmp_path / "client" / "site.wacz"
    file.parent.mkdir()
    file.write_bytes(CONTENT)
    return Input(hashlib.sha256(CONTENT).hexdigest(), str(file))


def elsewhere(needed, tmp_path):
    """As it is named where the client's file is not seen."""
    return Input(needed.digest, str(tmp_path / "not here" / "site.wacz"))


def test_the_clients_own_path_is_used_where_it_shows_the_same_bytes(needed):
    assert resolve({"site": needed}) == ({"site": needed.path}, [])


@pytest.mark.parametrize("content", [b"another recording", None])
def test_a_path_that_shows_other_bytes_or_none_is_not(needed, tmp_path, content):
    other = tmp_path / "other.wacz"
    if content:
        other.write_bytes(content)
    named = Input(needed.digest, str(other))
    assert resolve({"site": named}) == ({}, [named])


def test_what_came_is_kept_for_all_slots_of_the_machine(needed, tmp_path, monkeypatch):
    there = elsewhere(needed, tmp_path)
    keep_input(there, content_of(needed))
    for _ in range(2):
        found, missing = resolve({"site": there})
        assert not missing and found["site"].endswith(f"/{needed.digest}.wacz")
        monkeypatch.setattr(inputs, "_found", {})  # as another slot's process


def test_what_was_damaged_on_its_way_is_not_kept(needed, tmp_path):
    there = elsewhere(needed, tmp_path)
    with pytest.raises(StoreError, match="what came has another digest than"):
        keep_input(there, CONTENT + b" ")
    assert resolve({"site": there}) == ({}, [there])


def test_a_copy_that_was_damaged_since_is_asked_for_again(needed, tmp_path, monkeypatch):
    there = elsewhere(needed, tmp_path)
    keep_input(there, CONTENT)
    [copy] = (tmp_path / "cache").rglob("*.wacz")
    copy.write_bytes(b"damaged")
    assert resolve({"site": there}) == ({}, [there])


@pytest.mark.parametrize("content", [b"another", None])
def test_a_copy_that_was_found_and_then_went_is_asked_for_again(needed, tmp_path, content):
    there = elsewhere(needed, tmp_path)
    keep_input(there, CONTENT)
    assert resolve({"site": there})[1] == []
    [copy] = (tmp_path / "cache").rglob("*.wacz")
    copy.write_bytes(content) if content else copy.unlink()
    assert resolve({"site": there}) == ({}, [there])
    keep_input(there, CONTENT)
    assert resolve({"site": there}) == ({"site": str(copy)}, [])


@pytest.mark.parametrize("content", [b"recorded anew", None])
def test_a_file_of_the_clients_that_changed_or_went_is_not_sent(needed, tmp_path, content):
    file = tmp_path / "client" / "site.wacz"
    file.write_bytes(content) if content else file.unlink()
    with pytest.raises(InputChangedError, match=r"site\.wacz") as refused:
        content_of(needed)
    assert "\n" not in str(refused.value)
