"""Recordings of other tools are found by what they are, whatever else lies about."""

import os

import pytest
from recordings import as_har, as_mahimahi, real_recordings

from eyelevel.base.errors import CorpusError
from eyelevel.sites.corpora.sources import DEPTH_MAX, Source, find_sources, name_of, plain_name


def keys(folder):
    return [source.key for source in find_sources(folder)[0]]


def test_folders_of_mahimahi_and_files_are_found_at_any_depth(tmp_path):
    as_mahimahi(tmp_path / "a" / "deep" / "apple.com")
    (tmp_path / "b").mkdir()
    as_har(tmp_path / "b" / "page.har")
    for name in ("x.wacz", "y.warc", "z.warc.gz", "w.wprgo", "f.flow", "notes.txt", "data.json"):
        (tmp_path / "b" / name).write_bytes(b"x")
    found, others = find_sources(tmp_path)
    assert [source.key for source in found] == [
        "a/deep/apple.com", "b/f.flow", "b/page.har", "b/w.wprgo", "b/x.wacz", "b/y.warc",
        "b/z.warc.gz",
    ]  # fmt: skip
    assert others == 2
    assert [source.ending for source in found][-2:] == [".warc", ".warc.gz"]
    assert [source.replays_as_it_is for source in found] == [False] * 4 + [True] * 3


def test_a_folder_of_mahimahi_is_known_by_its_files_content_if_they_have_other_names(tmp_path):
    folder = as_mahimahi(tmp_path / "recorded")
    for number, file in enumerate(sorted(folder.iterdir())):
        file.rename(folder / f"10{number}")
    assert keys(tmp_path) == ["recorded"]
    for file in folder.iterdir():
        file.write_bytes(b"\x0a\x05hello" + file.read_bytes())
    assert keys(tmp_path) == []


def test_the_folders_of_das_are_known(tmp_path):
    """https://github.com/ravinet/sites has files like `163/103224889`, laid out as in 2014."""
    for number, head in enumerate((b"\x08P\x12\x04HTTP", b"\x08\xbb\x03\x12\x05HTTPS")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "103224889").write_bytes(head + b"\x1a\x09192.0.2.1")
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "x").write_bytes(b"\x08P\x12\x04FTP.")
    assert keys(tmp_path) == ["0", "1"]


def test_links_to_folders_what_is_no_file_and_hidden_drafts_are_passed_over(tmp_path):
    as_mahimahi(tmp_path / "outside" / "site")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "loop").symlink_to(inside)
    (inside / "away").symlink_to(tmp_path / "outside")
    (inside / "gone.har").symlink_to(inside / "nothing")
    os.mkfifo(inside / "waits.har")
    (inside / ".writing-x.wacz-1").mkdir()
    (inside / ".writing-x.wacz-1" / "x.wacz").write_bytes(b"x")
    assert keys(inside) == []


def test_a_folder_in_itself_is_found_and_depth_has_a_bound(tmp_path):
    folder = as_mahimahi(tmp_path / "one")
    assert keys(folder) == ["one"]
    deep = tmp_path.joinpath(*["d"] * (DEPTH_MAX + 2))
    deep.mkdir(parents=True)
    (deep / "x.har").write_bytes(b"{}")
    assert keys(tmp_path) == ["one"]


def test_no_folder_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="is not a folder"):
        find_sources(tmp_path / "nothing")


def test_names_are_of_the_file_and_take_the_folders_above_where_it_is_taken(tmp_path):
    taken: set[str] = set()
    names = []
    for key in ("www.A.com/index.har", "b/index.har", "b/c/index.har", "x/b/index.warc.gz"):
        names.append(name_of(Source(tmp_path / key, key, 1), taken))
        taken.add(names[-1])
    assert names == ["index", "b-index", "c-index", "x-b-index"]
    same = Source(tmp_path / "index.har", "index.har", 1)
    assert name_of(same, taken) == "index-2"


@pytest.mark.parametrize(
    ("text", "name"),
    [("Über/../x\x1b[2J", "ber-..-x-2J"), ("...", "site"), ("a" * 200, "a" * 80), ("-é-", "site")],
)
def test_names_steer_nothing(text, name):
    assert plain_name(text) == name.lower()


def test_a_key_steers_no_terminal_and_survives_a_table(tmp_path):
    (tmp_path / "a\x1b[2J\n.har").write_bytes(b"{}")
    (tmp_path / " b.har").write_bytes(b"{}")
    assert keys(tmp_path) == ["' b.har'", "a\\x1b[2J\\n.har"]


def test_real_recordings_are_all_found():
    assert keys(real_recordings()) == [
        "mahimahi/apple-2015", "mahimahi/imgur-2015", "mahimahi/stackoverflow-2015",
        "warc/baidu-2018.warc.gz", "warc/reddit-2018.warc.gz", "warc/wikipedia-2018.warc.gz",
        "warc/youtube-2018.warc.gz",
    ]  # fmt: skip
