from eyelevel.browser.observations import ObjectLoad, RawLoad
from eyelevel.lab import LabSummary
from eyelevel.run.page_check import findings, observed

HOST = "https://a.example"


def asked(url: str, kind: str = "Image", blocking: str | None = None, failed: str | None = None):
    said = dict.fromkeys(ObjectLoad.__slots__) | {"started_ms": 1.0, "encoded_bytes": 1}
    said |= {"url": url, "method": "GET", "resource_type": kind, "source": "network"}
    return ObjectLoad(**said | {"render_blocking": blocking, "failed": failed})


def load(*objects: ObjectLoad, missing: tuple[str, ...] = (), version="h2", ended="complete"):
    answers = [
        {"url": url, "match": "miss", "nearest_url": f"{HOST}/near", "difference": "path"}
        for url in missing
    ]
    return observed(version, RawLoad(ended, "", objects=objects), LabSummary(tuple(answers)))


def page(*more: ObjectLoad, missing: tuple[str, ...] = ()):
    return load(*(asked(f"{HOST}/{n}") for n in range(40)), *more, missing=missing)


def test_a_whole_page_is_fit_and_fragments_are_no_requests():
    found = findings([page(asked(f"{HOST}/1#x")), page()], {"a.example"})
    assert found.failure() == ""
    assert not found.misses and not found.not_always_asked and found.misses_agree


def test_what_blocks_rendering_comes_first_and_fails_the_check():
    style, image = f"{HOST}/style.css", f"{HOST}/a.png"
    one = page(asked(style, "Stylesheet", "Blocking"), asked(image), missing=(image, style))
    found = findings([one, one], {"a.example"})
    assert [miss.url for miss in found.misses] == [style, image]
    assert found.failure() == f"render-blocking {style} is not in the recording"
    assert "another path" in found.misses[0].explanation


def test_a_host_that_was_not_recorded_is_named():
    url = "https://third.example/pixel"
    found = findings([page(asked(url, failed="net::ERR_NAME_NOT_RESOLVED"))], {"a.example"})
    assert found.hosts_missing == ("third.example",)
    assert found.misses[0].explanation == "nothing was recorded from its host"
    assert found.failure() == ""


def test_icons_of_the_browser_do_not_count():
    icons = tuple(f"{HOST}/{n}/favicon.ico" for n in range(20))
    found = findings(
        [page(*(asked(icon, "Other") for icon in icons), missing=icons)], {"a.example"}
    )
    assert found.missing_share == 0 and len(found.misses) == 20 and found.failure() == ""


def test_more_than_a_twentieth_missing_fails():
    urls = tuple(f"{HOST}/gone/{n}" for n in range(3))
    found = findings([page(*map(asked, urls), missing=urls)], {"a.example"})
    assert found.failure() == "7% of the requests are not in the recording"


def test_loads_that_differ_are_told_apart():
    other = f"{HOST}/other"
    found = findings([page(), page(asked(other), missing=(other,))], {"a.example"})
    assert found.not_always_asked == {other: 1}
    assert not found.misses_agree and found.failure() == "not every load missed the same URLs"


def test_a_load_that_does_not_end_fails():
    assert "did not load" in findings([load(ended="timeout", version="h3")], set()).failure()


def test_the_clock_in_a_query_is_told_but_is_no_other_request():
    beacons = [f"https://third.example/b?t={n}&s=1" for n in (44, 49)]
    loads = [page(asked(url, failed="net::ERR_NAME_NOT_RESOLVED")) for url in beacons]
    found = findings(loads, {"a.example"})
    assert found.misses_agree and len(found.misses) == 1 and not found.not_always_asked
    assert found.values_differ == ("https://third.example/b?t&s",)
