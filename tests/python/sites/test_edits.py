"""Recordings derived by edits, and the command that writes one."""

import json
from pathlib import Path

import pytest
from in_process import run_command
from labs import CORPUS
from remedies import has_remedy

from eyelevel.base.errors import LabError, PlanError
from eyelevel.plan.edits import Edit
from eyelevel.sites import edits
from eyelevel.sites.contents import bodies_of
from eyelevel.sites.edits import derive
from eyelevel.sites.recorded import read_alterations, site_info

PLAIN = CORPUS / "plain.wacz"
COMMENT = Edit("insert_head", "<!--x-->")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_recording_is_derived_once(monkeypatch: pytest.MonkeyPatch):
    first = derive(PLAIN, [COMMENT])
    assert first.path.name == PLAIN.name
    assert site_info(first.path)["digest"] == first.digest != site_info(PLAIN)["digest"]
    assert read_alterations(first.path)[-1] == "edited: insert_head:<!--x--> (1 match)"
    monkeypatch.setattr(edits, "run_tool", None)
    assert derive(PLAIN, [COMMENT]) == first


def test_other_edits_and_files_are_other_recordings(tmp_path: Path):
    picture = tmp_path / "a"
    picture.write_bytes(b"one")
    body = Edit("body", str(picture), "*.css")
    other = Edit("insert_head", "<!--y-->")
    lists = ([COMMENT], [other], [COMMENT, body])
    names = {derive(PLAIN, edits).path for edits in lists}
    picture.write_bytes(b"two")
    derived = derive(PLAIN, [COMMENT, body])
    assert len(names | {derived.path}) == 4
    assert any(each["size"] == 3 for each in bodies_of(derived.path))


def test_what_matches_nothing_leaves_nothing(cache: Path):
    with pytest.raises(LabError, match="`defer:/none\\.js`") as refused:
        derive(PLAIN, [Edit("defer", "/none.js")])
    assert "\n" not in str(refused.value) and has_remedy(str(refused.value))
    assert not list(cache.rglob("*.wacz"))
    with pytest.raises(PlanError, match="there is no such file"):
        derive(PLAIN, [Edit("body", "none", "*")])


def test_the_command_writes_a_site_and_says_what_matched(tmp_path: Path):
    file, out = tmp_path / "edits.toml", tmp_path / "out.wacz"
    file.write_text('[[edits]]\ninsert_head = "<!--a-->"\n')
    words = ("site", "edit", "plain", "--edits", str(file), "--out", str(out))
    done = run_command(*words, "--change", "encode:gzip:9")
    assert done.returncode == 0, done.stderr
    assert "insert_head:<!--a-->        1  https://plain.example/" in done.stdout
    done = run_command(*words, "--json")
    report = json.loads(done.stdout)
    assert report["digest"] == site_info(out)["digest"]
    assert [(each["edit"], each["matches"]) for each in report["edits"]] == [
        ("insert_head:<!--a-->", 1)
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give at least one"),
        (("--change", "prelod:/x"), "did you mean `preload`?"),
        (("--change", "preload:"), "lacks an object"),
        (("--edits", "none.toml"), "there is no such file"),
    ],
)
def test_a_bad_command_is_refused(words: tuple[str, ...], said: str, tmp_path: Path):
    out = tmp_path / "out.wacz"
    done = run_command("site", "edit", "plain", "--out", str(out), *words)
    assert done.returncode != 0 and not out.exists()
    assert said in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize("text", ["", "edits = 1", "[[edits]]\nnone = 1"])
def test_a_bad_file_is_refused_by_its_name(text: str, tmp_path: Path):
    file = tmp_path / "edits.toml"
    file.write_text(text)
    done = run_command("site", "edit", "plain", "--out", "x.wacz", "--edits", str(file))
    assert done.returncode != 0 and str(file) in done.stderr
