"""A synthetic site that a plan names is the one that `eyelevel site synth` writes."""

import inspect

import pytest

from eyelevel.plan.synthetic_site import LikeSite, parse_synthetic
from eyelevel.sites.contents import contents_of
from eyelevel.sites.synthetic import by_name, shapes, write
from eyelevel.sites.synthetic.by_name import make_synthetic
from eyelevel.sites.synthetic.published import PUBLISHED
from eyelevel.sites.synthetic.shapes import site_shapes
from eyelevel.sites.synthetic.write import write_site


def test_a_named_site_has_the_bytes_of_the_written_one(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    site = LikeSite("das2014", 2, 6, 4)
    made = make_synthetic(site)
    written = tmp_path / f"{site.name}.wacz"
    write_site(site_shapes(PUBLISHED["das2014"], 6, 4)[1], site.name, written)
    assert made.read_bytes() == written.read_bytes()
    before = made.stat().st_mtime_ns
    assert make_synthetic(site) == made and made.stat().st_mtime_ns == before


@pytest.mark.parametrize("changed", [shapes, write, by_name, "the packer"])
def test_what_other_code_made_is_not_taken_for_it(changed, tmp_path, monkeypatch):
    """Of the same name, and perhaps other bytes: the cache has a folder for each maker."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    site = LikeSite("das2014", 2, 6, 4)
    whole = inspect.getsource
    with monkeypatch.context() as older:
        older.setattr(
            inspect, "getsource", lambda module: whole(module) + "#" * (module is changed)
        )
        if changed == "the packer":
            older.setattr(by_name, "binary_digest", lambda: "of another binary")
        by_name._maker.cache_clear()
        before = make_synthetic(site)
        before.write_bytes(b"of another maker")
    by_name._maker.cache_clear()
    made = make_synthetic(site)
    assert made != before and made.name == before.name
    assert made.read_bytes() != before.read_bytes()


def test_late_style_is_the_last_object_and_named_after_all_images(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    site = parse_synthetic("synthetic:objects=4,object_bytes=2000,late_style=1")
    made = make_synthetic(site)
    urls = [each.url for each in contents_of(made).objects]
    assert urls == [
        f"https://origin1.example/{name}" for name in ("", "1.svg", "2.svg", "late.css")
    ]
    page = by_name._page(site, ["https://a/1.svg"], "https://a/late.css")
    assert page.index("as=image") < page.index("rel=stylesheet") < page.index("<h1>")
    with pytest.raises(ValueError, match="a style sheet is an object of its own"):
        parse_synthetic("synthetic:late_style=1")
