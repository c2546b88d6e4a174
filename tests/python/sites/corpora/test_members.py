"""A corpus is opened as a folder, a list or by a made one's name."""

import shutil

import pytest
from labs import CORPUS

from eyelevel.base.errors import CorpusError
from eyelevel.sites.corpora.members import members
from eyelevel.sites.corpora.synthetic import SYNTHETIC_CORPORA


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sites" / "below").mkdir(parents=True)
    shutil.copy(CORPUS / "plain.wacz", tmp_path / "sites" / "a.wacz")
    shutil.copy(CORPUS / "plain.wacz", tmp_path / "sites" / "below" / "b[1].wacz")
    (tmp_path / "sites" / ".writing-c.wacz-1").mkdir()
    shutil.copy(CORPUS / "plain.wacz", tmp_path / "sites" / ".writing-c.wacz-1" / "c.wacz")
    return tmp_path / "sites"


def test_a_folder_has_its_recordings_and_no_drafts(folder):
    found = members(str(folder))
    assert [member.name for member in found] == ["a", "b[1]"]
    assert found[1].of_plan == f"{folder}/below/b[[]1].wacz"


def test_a_corpus_in_a_hidden_folder_has_its_recordings(tmp_path):
    (tmp_path / ".cache").mkdir()
    shutil.copy(CORPUS / "plain.wacz", tmp_path / ".cache" / "a.wacz")
    assert [member.name for member in members(str(tmp_path / ".cache"))] == ["a"]


def test_a_list_names_paths_shipped_and_synthetic_sites(folder):
    file = folder / "list.txt"
    lines = ["# a comment", "", "a.wacz", "plain", "synthetic:objects=3", "./below/b[1].wacz"]
    file.write_text("\n".join([*lines, "synthetic:like=das2014,site=7"]))
    found = members(str(file))
    assert [member.name for member in found] == [
        "a", "plain", "synthetic-3x10000-1", "b[1]", "das2014-1-007",
    ]  # fmt: skip
    assert found[0].site == f"{folder}/a.wacz"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("https://example.org/", "list.txt:1: `https://example.org/` is a page"),
        ("# x\nnothing.wacz", "list.txt:2: `nothing.wacz` is not a recording"),
        ("synthetic:objekts=2", "did you mean `objects`"),
        ("", "names no recording"),
        ("plain\nplain", "have the same name"),
        ("a\x1b[2J", r"`a\x1b\[2J` is not a recording"),
    ],
)
def test_a_list_that_is_wrong_is_refused_in_one_line(folder, lines, said):
    file = folder / "list.txt"
    file.write_text(lines)
    with pytest.raises(CorpusError) as refused:
        members(str(file))
    assert said.replace(r"\[", "[") in str(refused.value) and "\n" not in str(refused.value)


def test_what_is_no_corpus_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="did you mean `das2014`"):
        members("das204")
    with pytest.raises(CorpusError, match="holds no WACZ or WARC file"):
        members(str(tmp_path))


@pytest.mark.parametrize("made", SYNTHETIC_CORPORA, ids=lambda made: made.name)
def test_a_made_corpus_stands_for_its_sites(made):
    found = members(made.name)
    assert len(found) == len(made.sites) == len({member.name for member in found})
    assert len(found) >= 6
