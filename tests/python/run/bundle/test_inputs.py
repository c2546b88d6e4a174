import shutil
from pathlib import Path

import pytest

from eyelevel.base.errors import StoreError
from eyelevel.cli.run.plan import open_pages
from eyelevel.load.traces import check_trace_files, read_stages, read_trace_file
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.trials import expand, plan_document
from eyelevel.run.bundle.bundle import find_inputs, write_bundle
from eyelevel.run.bundle.unpack import check_sites, open_bundle
from eyelevel.sites.recorded import _info, list_shipped, matching, open_site, read_alterations
from eyelevel.store.directory import PLAN_FILE, read_document, write_document

PLAIN = """\
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""
TRACED = """\
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
[[networks]]
name = "traced"
base = "lte"
trace_down = "traces/lte.down"
[[networks]]
name = "staged"
down = "delay 5ms, trace traces/cell.down, queue droptail 200ms"
up = "rate 20 Mbit/s, queue droptail 200ms"
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run plans in, with two recordings and two traces."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for folder in ("recordings", "traces"):
        (tmp_path / folder).mkdir()
    shutil.copy(list_shipped()["plain"], "recordings/www.example.org.wacz")
    shutil.copy(list_shipped()["article"], "recordings/b.warc.wacz")
    (tmp_path / "traces/lte.down").write_text("1\n2\n10\n")
    (tmp_path / "traces/cell.down").write_text("1\n3\n10\n")
    return tmp_path


def planned(place, text):
    """A directory that holds what `eyelevel run` writes first."""
    plan = parse_plan(
        text,
        "plan.toml",
        matching=matching,
        readers=Readers(read_trace_file, read_stages, find_recorded_pair),
    )
    sites = [site.of_plan() for site in open_pages(plan)]
    directory = place / "run"
    directory.mkdir()
    _info.cache_clear()  # a later command has looked at no file yet
    write_document(directory, PLAN_FILE, plan_document(plan, sites, expand(plan, sites)))
    return directory


@pytest.mark.parametrize(
    ("sites", "names"),
    [
        ('"recordings/www.example.org.wacz", "api"', ["www.example.org", "api"]),
        ('"recordings/*.wacz"', ["b.warc", "www.example.org"]),
        ('"recordings/"', ["b.warc", "www.example.org"]),
        ('"ap[a-z]"', ["api"]),
        ('"synthetic:object_bytes=2000"', ["synthetic-1x2000-1"]),
    ],
)
def test_sites_are_found_where_the_plan_names_them(place, sites, names):
    directory = planned(place, f"sites = [{sites}]\n{PLAIN}")
    found = find_inputs(directory)
    assert list(found.sites) == names and found.files == {}


def test_a_recording_that_moved_is_taken_from_where_it_is_given(place):
    directory = planned(place, f'sites = ["recordings/www.example.org.wacz"]\n{PLAIN}')
    (place / "recordings/www.example.org.wacz").rename(place / "other-name.wacz")
    with pytest.raises(StoreError, match=r"`recordings/.*` cannot be opened .* with --site"):
        find_inputs(directory)
    found = find_inputs(directory, ["./other-name.wacz"])
    assert found.sites["www.example.org"].path.name == "other-name.wacz"
    shutil.copy("recordings/b.warc.wacz", "recordings/www.example.org.wacz")
    _info.cache_clear()
    with pytest.raises(StoreError, match="has been replaced by another one"):
        find_inputs(directory)


def test_a_pattern_that_matches_no_more_names_the_site_that_is_missing(place):
    directory = planned(place, f'sites = ["recordings/"]\n{PLAIN}')
    (place / "recordings/www.example.org.wacz").rename(place / "other-name.wacz")
    with pytest.raises(StoreError, match=r"no site of the plan is named `www.example.org` here"):
        find_inputs(directory)
    assert find_inputs(directory, ["other-name.wacz"]).sites.keys() == {"b.warc", "www.example.org"}


def test_files_of_networks_are_found_by_their_digests(place):
    directory = planned(place, f'sites = ["api"]\n{TRACED}')
    found = find_inputs(directory)
    assert sorted(path.name for path in found.files.values()) == ["cell.down", "lte.down"]
    (place / "traces/cell.down").write_text("5\n")
    with pytest.raises(StoreError, match=r"a file of the network `staged`.* restore it"):
        find_inputs(directory)
    (place / "traces/cell.down").unlink()
    with pytest.raises(StoreError, match=r"a file of the network `staged`.*\(traces/cell.down"):
        find_inputs(directory)


@pytest.mark.parametrize("site", ["recordings/", "synthetic:object_bytes=2000", "api"])
def test_a_bundle_of_them_is_the_same_plan_elsewhere(place, monkeypatch, site):
    directory = planned(place, f'sites = ["{site}"]\n{TRACED}')
    write_bundle(directory, find_inputs(directory), place / "study.bundle")
    for folder in ("recordings", "traces", "cache"):
        shutil.rmtree(place / folder, ignore_errors=True)
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    plan = open_bundle(Path("../study.bundle"), Path("out/original")).plan
    trials = expand(plan, [open_site(name).of_plan() for name in plan.sites])
    document = read_document(directory, PLAN_FILE)
    assert [trial.hash for trial in trials] == [each["hash"] for each in document["trials"]]
    for trial in trials:
        check_trace_files(plan.trace_files, trial.network_settings)
        trial.lab_path(plan.trace_files)


VARIED = """\
sites = ["recordings/www.example.org.wacz"]
networks = ["dsl"]
stacks = ["quic"]
reference = "main"
blocks = 1
variants = [
    { name = "main" },
    { name = "pr", recordings = ["recordings/pr/www.example.org.wacz"] },
    { name = "new", edits = [{ body = "new.css", in = "*.css" }, "insert_head:<meta name=x>"] },
]
"""
STYLE = "body { margin: 33px }"


@pytest.fixture
def varied(place: Path) -> Path:
    """A run whose variants are another recording, and an edit with a file of its own."""
    (place / "recordings/pr").mkdir()
    shutil.copy(list_shipped()["article"], "recordings/pr/www.example.org.wacz")
    (place / "new.css").write_text(STYLE)
    return planned(place, VARIED)


def test_a_bundle_has_the_recording_that_each_variant_loads(varied, place, monkeypatch):
    write_bundle(varied, find_inputs(varied), place / "study.bundle")
    for name in ("recordings", "cache"):
        shutil.rmtree(place / name)
    (place / "new.css").unlink()
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    unpacked = open_bundle(Path("../study.bundle"), Path("out/original"))
    check_sites(unpacked, Path("../study.bundle"))
    sites = open_pages(unpacked.plan)
    document = read_document(varied, PLAN_FILE)
    found = [site.of_plan() for site in sites]
    trials = expand(unpacked.plan, found)
    assert plan_document(unpacked.plan, found, trials) == document
    (site,) = sites
    assert set(site.variants) == {"pr", "new"}
    edited = read_alterations(site.variants["new"].path)
    assert [each.partition(" (")[0] for each in edited[-2:]] == [
        "edited: body:new.css in *.css",
        "edited: insert_head:<meta name=x>",
    ]
    # What a recipient gets is what the plan names, to the byte.
    other = Path("out/original/variants/pr/www.example.org/www.example.org.wacz")
    shutil.copy("out/original/sites/www.example.org.wacz", other)
    _info.cache_clear()
    with pytest.raises(StoreError, match=r"variants/pr/.* is not the recording"):
        check_sites(unpacked, Path("../study.bundle"))


def test_a_variant_whose_file_changed_is_named_with_its_edit(varied, place):
    (place / "new.css").write_text("body { margin: 34px }")
    with pytest.raises(StoreError, match=r"`new/www.example.org` .* edited is another"):
        find_inputs(varied)
    (place / "new.css").unlink()
    with pytest.raises(StoreError, match=r"`new/.*new\.css for an edit: there is no"):
        find_inputs(varied)


def test_a_variants_recording_that_moved_is_taken_from_where_it_is_given(varied, place):
    (place / "recordings/pr/www.example.org.wacz").rename(place / "moved.wacz")
    with pytest.raises(StoreError, match=r"`pr/www.example.org` .* with --site"):
        find_inputs(varied)
    found = find_inputs(varied, ["moved.wacz"])
    assert found.recordings["pr/www.example.org"].path.name == "moved.wacz"
    write_bundle(varied, found, place / "study.bundle")
    unpacked = open_bundle(Path("study.bundle"), Path("out/original"))
    assert unpacked.plan.recording_files["pr/www.example.org"].endswith("/www.example.org.wacz")
