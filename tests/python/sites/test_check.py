import io
from dataclasses import replace

from PIL import Image

from eyelevel.browser.observations import Navigation, ObjectLoad, RawLoad
from eyelevel.lab.client import LabSummary
from eyelevel.sites.check import findings, observe_load
from eyelevel.sites.contents import RecordedObject

HOST = "https://a.example"


def asked(url: str, kind: str = "Image", blocking: str | None = None, failed: str | None = None):
    said = dict.fromkeys(ObjectLoad.__slots__) | {"started_ms": 1.0, "encoded_bytes": 1}
    said |= {"url": url, "method": "GET", "resource_type": kind, "source": "network"}
    return ObjectLoad(**said | {"render_blocking": blocking, "failed": failed})


RECORDED = [RecordedObject("GET", f"{HOST}/{number}", 100) for number in range(40)]


def load(
    *objects: ObjectLoad,
    missing=(),
    version="h2",
    ended="complete",
    texts=None,
    by=None,
    answered=range(40),
    painted=True,
    screenshot=b"",
):
    answers = [
        {"url": url, "match": "miss", "nearest_url": f"{HOST}/near", "difference": "path"}
        for url in missing
    ]
    # Without a page that asks, what is of the kind `Other` is an icon of the browser's.
    raw = RawLoad(
        ended,
        "",
        Navigation(first_contentful_paint_ms=90.0 if painted else None),
        objects=objects,
        initiators=by or {},
        screenshot=screenshot,
    )
    answers += [{"url": f"{HOST}/{at}", "match": "exact", "exchange": at} for at in answered]
    return observe_load(version, raw, LabSummary(tuple(answers)), texts or {})


def page(*more: ObjectLoad, **about):
    return load(*(asked(f"{HOST}/{n}") for n in range(40)), *more, **about)


def test_a_whole_page_is_fit_and_fragments_are_no_requests():
    found = findings([page(asked(f"{HOST}/1#x")), page()], {"a.example"}, RECORDED)
    assert found.failure() == ""
    assert not found.misses and not found.varying_requests and found.misses_agree


def test_what_blocks_rendering_comes_first_and_fails_the_check():
    style, image = f"{HOST}/style.css", f"{HOST}/a.png"
    one = page(asked(style, "Stylesheet", "Blocking"), asked(image), missing=(image, style))
    found = findings([one, one], {"a.example"}, RECORDED)
    assert [miss.url for miss in found.misses] == [style, image]
    assert found.failure() == f"render-blocking {style} is not in the recording"
    assert "another path" in found.misses[0].explanation


def test_a_host_that_was_not_recorded_is_named():
    url = "https://third.example/pixel"
    found = findings(
        [page(asked(url, failed="net::ERR_NAME_NOT_RESOLVED"))], {"a.example"}, RECORDED
    )
    assert found.hosts_missing == ("third.example",)
    assert "nothing was recorded from its host" in found.misses[0].explanation
    assert found.failure() == ""


def test_icons_of_the_browser_do_not_count():
    icons = tuple(f"{HOST}/{n}/favicon.ico" for n in range(20))
    found = findings(
        [page(*(asked(icon, "Other") for icon in icons), missing=icons)],
        {"a.example"},
        RECORDED,
    )
    assert found.missing_share == 0 and len(found.misses) == 20 and found.failure() == ""


def test_more_than_a_twentieth_missing_fails():
    urls = tuple(f"{HOST}/gone/{n}" for n in range(3))
    found = findings([page(*map(asked, urls), missing=urls)], {"a.example"}, RECORDED)
    assert found.failure() == "7% of the requests are not in the recording"
    named = {f"{HOST}/": " ".join(urls)}
    lacking = findings(
        [page(*map(asked, urls), missing=urls, texts=named)], {"a.example"}, RECORDED
    )
    assert lacking.failure() == found.failure() and lacking.made_up_share == 0
    assert round(lacking.lacking_share, 2) == 0.07


def test_loads_that_differ_are_told_apart():
    other = f"{HOST}/other"
    asks = page(asked(other), missing=(other,), version="h1")
    found = findings([page(), asks, page(version="h1")], {"a.example"}, RECORDED)
    assert found.varying_requests == {other: {"h2": 0, "h1": 1}}
    assert not found.misses_agree and found.failure() == "not every load missed the same URLs"


def test_a_load_that_does_not_end_fails():
    assert (
        "did not load" in findings([load(ended="timeout", version="h3")], set(), RECORDED).failure()
    )


def test_the_clock_in_a_query_is_told_but_is_no_other_request():
    beacons = [f"https://third.example/b?t={n}&s=1" for n in (44, 49)]
    loads = [page(asked(url, failed="net::ERR_NAME_NOT_RESOLVED")) for url in beacons]
    found = findings(loads, {"a.example"}, RECORDED)
    assert found.misses_agree and len(found.misses) == 1 and not found.varying_requests
    assert found.values_differ == ("https://third.example/b?t&s",)


def test_what_a_recorded_text_names_is_the_recordings_own_miss():
    named, made_up = f"{HOST}/base.js?v=1&w=2", f"{HOST}/ad?slot=3"
    texts = {f"{HOST}/": '<script src="/base.js?v=1&w=2"></script>'}
    by = {named: f"{HOST}/", made_up: f"{HOST}/base.js"}
    objects = (asked(named, "Script"), asked(made_up))
    loaded = page(*objects, missing=(named, made_up), texts=texts, by=by)
    told = {miss.url: miss for miss in findings([loaded], {"a.example"}, RECORDED).misses}
    assert told[named].named_in == f"{HOST}/" and told[made_up].named_in is None
    assert f"named in {HOST}/" in told[named].explanation
    assert f"made up by {HOST}/base.js" in told[made_up].explanation


def test_a_frames_own_document_and_style_sheet_hold_nothing_of_the_page():
    document, style = f"{HOST}/frame", f"{HOST}/frame.css"
    inside = [
        replace(asked(document, "Document"), in_main_frame=False),
        replace(asked(style, "Stylesheet", "Blocking"), in_main_frame=False),
    ]
    found = findings([page(*inside, missing=(document, style))], {"a.example"}, RECORDED)
    assert not any(miss.render_blocking for miss in found.misses)


def test_a_script_in_the_body_holds_what_stands_below_it():
    script = asked(f"{HOST}/base.js", "Script", "InBodyParserBlocking")
    found = findings([page(script, missing=(script.url,))], {"a.example"}, RECORDED)
    assert found.failure() == f"render-blocking {script.url} is not in the recording"
    assert "it holds what stands below it" in found.misses[0].explanation


def test_a_script_at_the_bodys_end_fails_the_check_which_says_that_nothing_stands_below_it():
    script = asked(f"{HOST}/base.js", "Script", "InBodyParserBlocking")
    texts = {f"{HOST}/": "<body><p>x</p><script src=/base.js></script><script>1</script></body>"}
    loaded = page(script, missing=(script.url,), texts=texts, by={script.url: f"{HOST}/"})
    found = findings([loaded], {"a.example"}, RECORDED)
    assert found.failure() == f"render-blocking {script.url} is not in the recording"
    assert "only scripts stand below it" in found.misses[0].explanation


def test_a_page_that_uses_less_than_half_of_its_recording_is_not_fit():
    few = page(answered=(0, 1))
    found = findings([few, few], {"a.example"}, RECORDED)
    assert found.failure() == (
        "its loads use 2 of 40 recorded objects, less than 50% of the recording"
    )
    assert len(found.use.unused) == 38 and found.failure(0) == ""
    # What pages leave to chance: one load asked for the one half, another for the other.
    halves = [page(answered=range(20)), page(answered=range(15, 40))]
    found = findings(halves, {"a.example"}, RECORDED)
    assert found.use.objects_share == 1 and found.failure() == ""
    assert findings([page(answered=range(20))], set(), RECORDED).failure() == ""
    assert findings([page(answered=range(19))], set(), RECORDED).failure() != ""


def test_many_small_objects_are_not_half_of_the_bytes():
    large = RecordedObject("GET", f"{HOST}/film", 10_000)
    found = findings([page()], {"a.example"}, [*RECORDED, large])
    assert found.failure() == (
        "its loads use 29% of the recorded bytes (40 of 41 recorded objects), "
        "less than 50% of the recording; was it recorded in another viewport?"
    )
    assert found.use.unused == (large,)


def test_what_was_recorded_twice_counts_once():
    again = [replace(one, body_bytes=0) for one in RECORDED] * 2
    found = findings([page()], {"a.example"}, [*RECORDED, *again])
    assert (found.use.objects_used, found.use.objects_recorded) == (40, 40)
    assert found.use.body_bytes_used == found.use.body_bytes_recorded == 4000


def test_a_page_that_paints_nothing_is_not_fit():
    nothing = page(painted=False, version="h3")
    found = findings([page(), nothing], {"a.example"}, RECORDED)
    assert found.failure() == "over h3 the page painted neither text nor picture"
    for shown, failure in (
        (Image.new("RGB", (40, 30), "white"), "over h2 the page's picture is blank: of one colour"),
        (Image.linear_gradient("L"), ""),
    ):
        png = io.BytesIO()
        shown.save(png, "PNG")
        found = findings([page(screenshot=png.getvalue())], {"a.example"}, RECORDED)
        assert found.failure() == failure
