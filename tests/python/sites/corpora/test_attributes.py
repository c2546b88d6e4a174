"""What a corpus consists of: each site's numbers, the table of all, and what cannot be read."""

import shutil

import pytest
from labs import CORPUS
from recordings import as_har, har_of, real_recordings

from eyelevel.lab.binary import run_tool
from eyelevel.report.charts.corpus import NAMED_MAX, corpus_points
from eyelevel.sites.corpora.attributes import SiteAttributes, Unreadable, read_attributes
from eyelevel.sites.corpora.members import members
from eyelevel.sites.corpora.table import copies, rows_of, spreads, spreads_as_json
from eyelevel.sites.recorded import list_shipped, site_info


@pytest.fixture(scope="module")
def shipped_sites(tmp_path_factory):
    """All shipped sites as a corpus of a list."""
    file = tmp_path_factory.mktemp("list") / "list.txt"
    file.write_text("\n".join(list_shipped()))
    return list(read_attributes(members(str(file))))


def test_each_site_has_the_numbers_of_site_info(shipped_sites):
    assert [site.name for site in shipped_sites] == list(list_shipped())
    for site in shipped_sites:
        info = site_info(list_shipped()[site.name])
        assert site.objects == info["objects"] == len(site.object_bytes)
        assert site.body_bytes == info["body_bytes"] == sum(site.object_bytes)
        assert max(site.object_bytes) == info["body_bytes_max"]
        assert sorted(site.object_bytes)[(site.objects - 1) // 2] == info["body_bytes_median"]
        assert site.origins == len(info["origins"])
        assert site.object_bytes_mean == pytest.approx(site.body_bytes / site.objects)


def test_the_table_has_range_and_median_of_sites_and_of_all_objects(shipped_sites):
    found = spreads(shipped_sites)
    assert list(found)[:4] == ["server_addresses", "objects", "object_bytes", "body_bytes"]
    objects = found["objects"]
    assert (objects.least, objects.median, objects.largest) == (2, 19, 300)
    sizes = sorted(size for site in shipped_sites for size in site.object_bytes)
    assert found["object_bytes"].least == sizes[0]
    assert found["object_bytes"].largest == sizes[-1]
    assert sizes[len(sizes) // 2 - 1] <= found["object_bytes"].median <= sizes[len(sizes) // 2]
    said = spreads_as_json(shipped_sites)
    assert said["body_bytes"]["das_2014"]["median"] == 1.2e6 and "das_2014" not in said["origins"]


def test_a_recording_that_is_none_is_named_with_its_reason(tmp_path):
    shutil.copy(CORPUS / "plain.wacz", tmp_path / "whole.wacz")
    (tmp_path / "broken.wacz").write_text("no recording")
    broken, whole = read_attributes(members(str(tmp_path)))
    assert isinstance(broken, Unreadable) and "is not a recorded site" in broken.reason
    assert isinstance(whole, SiteAttributes) and whole.objects == 2


def test_addresses_that_nobody_recorded_are_no_number(tmp_path):
    """A HAR without `serverIPAddress`: replays have addresses of their own, tables have none."""
    (tmp_path / "in").mkdir()
    har = har_of(tmp_path / "in" / "a.har", "https://a.example/")
    run_tool(["archive", "import", str(har), "--out", str(tmp_path / "a.wacz")])
    (alone,) = read_attributes(members(str(tmp_path)))
    assert alone.server_addresses is None
    assert "server_addresses" not in spreads([alone])
    assert spreads_as_json([alone])["server_addresses"] is None
    assert rows_of([alone])["server_addresses"].to_list() == [None]
    assert corpus_points(rows_of([alone]))["vconcat"]
    shutil.copy(CORPUS / "gallery.wacz", tmp_path)
    both = list(read_attributes(members(str(tmp_path))))
    assert rows_of(both)["server_addresses"].to_list() == [None, 4]
    found = spreads(both)["server_addresses"]
    assert (found.least, found.median, found.largest) == (4, 4, 4), "of those that have some"


def test_sites_whose_sizes_may_not_be_as_sent_are_told(tmp_path):
    shutil.copy(CORPUS / "plain.wacz", tmp_path)
    har = as_har(tmp_path / "blog.har", "blog")
    run_tool(["archive", "import", str(har), "--out", str(tmp_path / "blog.wacz")])
    har.unlink()
    found = rows_of(list(read_attributes(members(str(tmp_path)))))
    assert dict(zip(found["site"], found["altered"], strict=True)) == {"blog": True, "plain": False}


def test_copies_of_a_page_are_told(tmp_path):
    for name in ("a", "b"):
        shutil.copy(CORPUS / "plain.wacz", tmp_path / f"{name}.wacz")
    shutil.copy(CORPUS / "blog.wacz", tmp_path)
    assert copies(list(read_attributes(members(str(tmp_path))))) == [("a", "b")]


def test_a_synthetic_site_is_made_when_it_is_opened(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "list.txt"
    file.write_text("synthetic:like=das2014,site=3,count=12,seed=9\n")
    (site,) = read_attributes(members(str(file)))
    assert isinstance(site, SiteAttributes) and site.name == "das2014-9-03of12"
    assert [each.name for each in (tmp_path / "eyelevel" / "synthetic").glob("*/*")] == [
        "das2014-9-03of12.wacz"
    ], "no other of its drawing"


def test_the_figure_has_a_point_a_site_by_rising_bytes(shipped_sites):
    rows = rows_of(shipped_sites)
    chart = corpus_points(rows)
    assert [panel["encoding"]["y"]["field"] for panel in chart["vconcat"]] == [
        "body_mb", "objects", "server_addresses",
    ]  # fmt: skip
    order = chart["vconcat"][0]["encoding"]["x"]["sort"]
    assert order == [site.name for site in sorted(shipped_sites, key=lambda s: s.body_bytes)]
    assert chart["vconcat"][-1]["encoding"]["x"]["axis"]["labels"]
    many = rows.sample(NAMED_MAX + 1, with_replacement=True, seed=1)
    assert not corpus_points(many)["vconcat"][-1]["encoding"]["x"]["axis"]["labels"]


def test_real_recordings_have_their_numbers():
    """Web Page Replay, from whose archives these were made, records no address."""
    found = {site.name: site for site in read_attributes(members(str(real_recordings() / "warc")))}
    assert {name: (site.server_addresses, site.objects) for name, site in found.items()} == {
        "baidu-2018": (None, 15), "reddit-2018": (None, 69), "wikipedia-2018": (None, 6),
        "youtube-2018": (None, 62),
    }  # fmt: skip
