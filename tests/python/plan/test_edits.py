"""Edits read from tables and short forms."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelevel.plan.edits import EDITS, Edit, parse_change, parse_edit

KINDS = {kind.name: kind for kind in EDITS}


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("preload:/hero.jpg", Edit("preload", "/hero.jpg")),
        ("block:third-parties", Edit("block", "third-parties")),
        ("encode:br:11", Edit("encode", "br:11")),
        ("encode:br:11 in *.js", Edit("encode", "br:11", "*.js")),
        ("header:cache-control: no-store", Edit("header", "cache-control: no-store")),
        ("header:x: a in b c", Edit("header", "x: a in b c")),
        ("preconnect:https://cdn.test", Edit("preconnect", "https://cdn.test")),
        ("fetchpriority:/a?b=c", Edit("fetchpriority", "/a?b=c", second="high")),
        ("fetchpriority:/a?b=c=low", Edit("fetchpriority", "/a?b=c", second="low")),
        ("replace:a => b in /x", Edit("replace", "a", "/x", "b")),
        ("replace:a => ", Edit("replace", "a")),
        ("rtt:cdn.test=90->20", None),
        ("http3", None),
    ],
)
def test_a_short_form_is_an_edit_or_something_else(text: str, edit: Edit | None):
    assert parse_change(text) == edit


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("preload:", "lacks an object; write `preload:/hero.jpg`"),
        ("replace:a", "lacks the text in its place"),
        ("body:file", "names no object; write `body:hero.avif in /hero.jpg`"),
    ],
)
def test_a_bad_short_form_is_refused(text: str, said: str):
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_change(text)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "has nothing"),
        ({"prelod": "/x"}, "did you mean `preload`?"),
        ({"preload": "/x", "defer": "/y"}, "has preload, defer"),
        ({"preload": "/x", "with_in": "/y"}, "unknown key `with_in`"),
        ({"preload": 1}, "`preload` is 1; write a text"),
        ({"block": "/x", "in": "/y"}, "unknown key `in`"),
        ({"replace": "x"}, "lacks `with`"),
        ({"body": "x"}, "names no object"),
    ],
)
def test_a_bad_table_is_refused(table: dict[str, object], said: str):
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        parse_edit(table)
    assert "\n" not in str(refused.value)


WORDS = st.text("abc/.*-", min_size=1, max_size=8)


@given(st.sampled_from(sorted(KINDS)), WORDS, st.none() | WORDS, WORDS)
def test_tables_and_short_forms_read_back(kind: str, value: str, within: str | None, other: str):
    table = {kind: value}
    if kind == "replace":
        table["with"] = other
    if KINDS[kind].within == "named" or (within and KINDS[kind].within != "none"):
        table["in"] = within or "/x"
    edit = parse_edit(table)
    assert parse_edit(edit.table()) == edit
    assert parse_change(edit.name) == edit


def test_every_example_is_an_edit():
    for kind in EDITS:
        edit = parse_change(kind.example)
        assert edit is not None and edit.kind == kind.name
        assert edit.name == kind.example
        assert parse_edit(edit.table()) == edit


def test_a_file_is_named_from_where_the_command_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    edit = parse_edit({"body": "a.jpg", "in": "/b.jpg"})
    assert edit.message()["action"] == {"body": str(tmp_path / "a.jpg")}
