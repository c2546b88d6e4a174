"""Recordings come in one by one; none that is damaged ends or crashes the others."""

import random
import shutil
import zipfile
from functools import partial
from pathlib import Path

import pytest
from labs import CORPUS
from recordings import as_har, as_mahimahi, har_of, real_recordings

from eyelevel.base.errors import CorpusError
from eyelevel.lab.binary import run_tool
from eyelevel.sites.corpora.importing import Wishes, import_all, recording_in
from eyelevel.sites.corpora.ledger import FILE, Entry, Ledger
from eyelevel.sites.corpora.pages import name_of_page
from eyelevel.sites.corpora.sources import find_sources
from eyelevel.sites.recorded import site_info

SEED = 20261123
MUTANTS = 120


def bring(folder, out, **wishes):
    """What became of each source, by its path below `folder`, and which were passed over."""
    out.mkdir(exist_ok=True)
    told: dict[str, Entry] = {}
    passed = set()
    sources = find_sources(folder)[0]
    below = {source.origin: source.key for source in sources}

    def tell(entry, is_passed_over):
        told[below[entry.source]] = entry
        passed.update({below[entry.source]} if is_passed_over else ())

    import_all(sources, Ledger(out), out, Wishes(**wishes), tell)
    return told, passed


def by_source(told):
    return {entry.source: entry for entry in told.values()}


def copied(name, file):
    """A shipped recording under another name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(CORPUS / f"{name}.wacz", file)
    return file.read_bytes()


@pytest.fixture
def mixed(tmp_path):
    folder = tmp_path / "mixed"
    as_mahimahi(folder / "mahimahi" / "plain")
    as_har(folder / "page.har")
    shutil.copy(CORPUS / "plain.wacz", folder / "own.wacz")
    (folder / "broken.har").write_text('{"log": 3}')
    (folder / "broken.warc").write_text("no record")
    return folder


def test_all_formats_come_in_and_what_is_refused_says_why(mixed, tmp_path):
    told, _ = bring(mixed, tmp_path / "out")
    assert {key: entry.outcome for key, entry in told.items()} == {
        "broken.har": "refused", "broken.warc": "refused", "mahimahi/plain": "imported",
        "own.wacz": "imported", "page.har": "imported",
    }  # fmt: skip
    for key in ("broken.har", "broken.warc"):
        reason = told[key].reason
        assert reason and "\n" not in reason and str(tmp_path / "out") not in reason
    pages = {
        site_info(recording_in(tmp_path / "out", entry))["objects"]
        for entry in told.values()
        if entry.is_there
    }
    assert pages == {2}
    # What replays as it is stays as it was.
    assert (tmp_path / "out" / "own.wacz").read_bytes() == (mixed / "own.wacz").read_bytes()
    assert Ledger(tmp_path / "out").entries == by_source(told)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == sorted(
        ["own.wacz", "page.wacz", "plain.wacz", FILE]
    )


def test_what_is_there_is_passed_over_and_what_changed_or_went_comes_again(mixed, tmp_path):
    out = tmp_path / "out"
    first, _ = bring(mixed, out)
    again, passed = bring(mixed, out)
    assert again == first and passed == set(first)
    (out / "plain.wacz").unlink()
    har_of(mixed / "broken.har", "https://mended.example/")
    _, passed = bring(mixed, out)
    assert set(first) - passed == {"mahimahi/plain", "broken.har"}
    _, passed = bring(mixed, out, again=True)
    assert set(first) - passed == {"broken.warc"}


def test_an_interrupted_import_goes_on(mixed, tmp_path):
    out, seen = tmp_path / "out", []
    out.mkdir()

    def tell(entry, _):
        seen.append(entry)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_all(find_sources(mixed)[0], Ledger(out), out, Wishes(), tell)
    told, passed = bring(mixed, out)
    assert {told[key].source for key in passed} == {entry.source for entry in seen}
    assert len(told) == 5
    assert not [file for file in out.iterdir() if file.name.startswith(".")]


def test_other_wishes_make_recordings_anew(tmp_path):
    """In the place of the ones before."""
    out = tmp_path / "out"
    (tmp_path / "in").mkdir()
    har_of(tmp_path / "in" / "page.har", "http://page.example/")
    made = bring(tmp_path / "in", tmp_path / "made")[0]["page.har"]
    shutil.copy(recording_in(tmp_path / "made", made), tmp_path / "in" / "copy.wacz")
    keys = {"page.har", "copy.wacz"}
    for wishes, share, size in (
        ({}, 0, None),
        ({"secure": True}, 1, None),
        ({"secure": True, "viewport": "800x600"}, 1, [800, 600]),
        ({}, 0, None),
    ):
        told, passed = bring(tmp_path / "in", out, **wishes)
        assert passed == set() and {entry.name for entry in told.values()} == {"page", "copy"}
        for entry in told.values():
            info = run_tool(["archive", "info", str(recording_in(out, entry)), "--json"])
            assert info["secure_share"] == share
            assert size is None or info["provenance"]["viewport_px"] == size
        assert bring(tmp_path / "in", out, **wishes)[1] == keys
    assert len(list(out.glob("*.wacz"))) == 2


def test_a_recording_of_another_ending_takes_the_place_of_the_one_before(tmp_path):
    file = real_recordings() / "warc" / "wikipedia-2018.warc.gz"
    (tmp_path / "in").mkdir()
    shutil.copy(file, tmp_path / "in")
    for wishes, ending in (({}, ".warc.gz"), ({"viewport": "800x600"}, ".wacz"), ({}, ".warc.gz")):
        bring(tmp_path / "in", tmp_path / "out", **wishes)
        assert {each.name for each in (tmp_path / "out").iterdir()} == {
            f"wikipedia-2018{ending}", FILE,
        }  # fmt: skip


def test_a_recording_that_no_import_made_is_left_alone(tmp_path):
    out = tmp_path / "out"
    own = {name: copied("blog", out / name) for name in ("site.wacz", "Other.warc")}
    for name in ("site.wacz", "other.wacz"):
        copied("plain", tmp_path / "in" / "www" / name)
    told, _ = bring(tmp_path / "in", out)
    assert {key: entry.name for key, entry in told.items()} == {
        "www/site.wacz": "www-site", "www/other.wacz": "www-other",
    }  # fmt: skip
    assert {name: (out / name).read_bytes() for name in own} == own
    # Nor is one that came by while the import's own was refused.
    (tmp_path / "in" / "late.wacz").write_text("no recording")
    assert bring(tmp_path / "in", out)[0]["late.wacz"].name == "late"
    late = copied("blog", out / "late.wacz")
    copied("plain", tmp_path / "in" / "late.wacz")
    told, _ = bring(tmp_path / "in", out)
    assert told["late.wacz"].name == "late-2" and (out / "late.wacz").read_bytes() == late


@pytest.mark.parametrize("second", ["blog", "plain"])
def test_recordings_of_two_folders_stand_side_by_side(second, tmp_path):
    """Also those of one size."""
    out = tmp_path / "out"
    contents = [
        copied(name, tmp_path / folder / "www" / "x.wacz")
        for name, folder in (("plain", "one"), (second, "two"))
    ]
    told = [bring(tmp_path / folder, out)[0]["www/x.wacz"] for folder in ("one", "two")]
    assert [entry.name for entry in told] == ["x", "www-x"]
    assert [(out / f"{entry.name}.wacz").read_bytes() for entry in told] == contents
    assert len(Ledger(out).entries) == 2
    # A part of a folder that was imported as a whole is the same source.
    assert bring(tmp_path / "two" / "www", out)[1] == {"x.wacz"}


def test_what_cannot_be_made_anew_stays_with_its_line(tmp_path):
    out = tmp_path / "out"
    content = copied("plain", tmp_path / "in" / "x.wacz")
    first, _ = bring(tmp_path / "in", out)
    (tmp_path / "in" / "x.wacz").write_text("no recording")
    told, _ = bring(tmp_path / "in", out)
    assert told["x.wacz"].outcome == "refused"
    assert Ledger(out).entries == by_source(first)
    assert (out / "x.wacz").read_bytes() == content


def test_an_import_that_is_killed_before_its_file_has_its_name_makes_it_under_that(
    tmp_path, monkeypatch
):
    copied("plain", tmp_path / "in" / "x.wacz")

    renamed = Path.rename

    def killed(file, target):
        if target.suffix == ".wacz":
            raise KeyboardInterrupt
        return renamed(file, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            bring(tmp_path / "in", tmp_path / "out")
    told, _ = bring(tmp_path / "in", tmp_path / "out")
    assert told["x.wacz"].name == "x"
    assert [file.name for file in (tmp_path / "out").glob("*.wacz")] == ["x.wacz"]


def test_wishes_hold_for_recordings_that_would_replay_as_they_are(mixed, tmp_path):
    bring(mixed, tmp_path / "out", viewport="1920x1200")
    info = site_info(tmp_path / "out" / "own.wacz")
    assert info["provenance"]["viewport_px"] == [1920, 1200]


def test_a_recording_that_is_not_what_its_digests_say_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    with (
        zipfile.ZipFile(CORPUS / "plain.wacz") as whole,
        zipfile.ZipFile(tmp_path / "in" / "changed.wacz", "w") as changed,
    ):
        for name in whole.namelist():
            more = b"\n" if name == "pages/pages.jsonl" else b""
            changed.writestr(name, whole.read(name) + more)
    told, _ = bring(tmp_path / "in", tmp_path / "out")
    assert told["changed.wacz"].outcome == "refused", "it opens, but a file's digest differs"
    assert not list((tmp_path / "out").glob("*.wacz"))


def test_one_that_takes_too_long_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    as_har(tmp_path / "in" / "slow.har", "gallery")
    told, _ = bring(tmp_path / "in", tmp_path / "out", time_limit_s=0.001)
    assert told["slow.har"].outcome == "refused" and "longer than" in told["slow.har"].reason


def test_mutants_of_every_format_neither_crash_nor_hang_the_rest(tmp_path):
    """Seeded; a process that dies by a signal would show as "it said nothing"."""
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    folder = tmp_path / "in"
    for number in range(MUTANTS):
        kind = number % 4
        if kind == 0:
            made = as_mahimahi(folder / f"m{number}")
            victim = sorted(made.iterdir())[0]
        elif kind == 1:
            victim = as_har(folder / f"h{number}.har")
        else:
            victim = folder / f"w{number}.wacz"
            shutil.copy(CORPUS / "plain.wacz", victim)
        content = bytearray(victim.read_bytes())
        for _ in range(chance.choice((1, 3, 30))):
            content[chance.randrange(len(content))] = chance.randrange(256)
        victim.write_bytes(content[: chance.choice((len(content), chance.randrange(len(content))))])
    as_har(folder / "zz-whole.har")
    told, _ = bring(folder, tmp_path / "out")
    assert len(told) == MUTANTS + 1 and told["zz-whole.har"].outcome == "imported"
    refused = [entry for entry in told.values() if not entry.is_there]
    assert len(refused) > MUTANTS / 4
    for entry in refused:
        assert entry.reason and "it said nothing" not in entry.reason
        assert "panicked" not in entry.reason
    assert Ledger(tmp_path / "out").entries == by_source(told)


def test_real_recordings_come_in(tmp_path):
    told, _ = bring(real_recordings(), tmp_path / "out")
    objects = {
        entry.name: site_info(recording_in(tmp_path / "out", entry))["objects"]
        for entry in told.values()
    }
    assert objects == {
        "apple-2015": 30, "imgur-2015": 106, "stackoverflow-2015": 33, "baidu-2018": 15,
        "reddit-2018": 69, "wikipedia-2018": 6, "youtube-2018": 62,
    }  # fmt: skip


def test_no_cell_of_the_table_is_a_formula_and_each_comes_back(tmp_path):
    entry = Entry("home", "=HYPERLINK(1)", "failed", "@x", 7, "+secure")
    Ledger(tmp_path).put(entry)
    written = (tmp_path / FILE).read_text(encoding="utf-8").splitlines()[1]
    assert written == "home,'=HYPERLINK(1),failed,'@x,7,'+secure"
    assert Ledger(tmp_path).entries == {entry.source: entry}


def test_a_table_that_is_none_is_refused_with_its_line(tmp_path):
    (tmp_path / FILE).write_text("name,source,outcome,reason,source_bytes,wishes\na,b,lost,,1,\n")
    with pytest.raises(CorpusError, match=r"corpus\.csv:2: no line of a corpus's table"):
        Ledger(tmp_path)
    (tmp_path / FILE).write_text("../a,b,imported,,1,\n")
    with pytest.raises(
        CorpusError, match="corpus\\.csv:1: `\\.\\./a` is not the name of a recording"
    ):
        Ledger(tmp_path)
    (tmp_path / FILE).write_text("a,b,imported,,many,\n")
    with pytest.raises(CorpusError, match=r"corpus\.csv:1: `many` is no size"):
        Ledger(tmp_path)


def test_a_recorded_page_takes_no_name_of_a_file_that_nobody_recorded(tmp_path):
    """A page's name is that of its line, unless the line has no recording and a file has it."""
    copied("blog", tmp_path / "a.example.wacz")
    ledger = Ledger(tmp_path)
    url = "https://a.example/"
    assert ledger.name_for(None, partial(name_of_page, url)) == "a.example-2"
    failed = Entry("a.example", url, "failed", "gone")
    ledger.put(failed)
    assert ledger.name_for(failed, partial(name_of_page, url)) == "a.example-2"
    recorded = Entry("a.example", url, "recorded")
    ledger.put(recorded)
    assert ledger.name_for(recorded, partial(name_of_page, url)) == "a.example"
