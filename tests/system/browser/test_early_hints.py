"""Early Hints in a real lab: a 103 starts what holds up the paint while the page's response
waits."""

from pathlib import Path
from typing import Any

import pytest
from pages import image
from planned_load import load_planned
from small_site import PAGE_URL, Answer, pack_answers

from eyelevel.analysis.early_hints import hint_uses

THINK_MS, RTT_MS = 400, 40
PAGE = (
    b"<!doctype html><title>hinted</title><link rel=icon href=data:,>"
    b"<link rel=stylesheet href=/style.css><script src=/code.js></script>"
    b"<link rel=stylesheet href=/never.css><link rel=stylesheet href=/checked.css>"
    b"<h1>A heading</h1><img src=/picture.png>"
)
DATE = "Thu, 01 Jan 2026 12:00:00 GMT"
EXCHANGES = {
    "": ("text/html", PAGE, {}),
    # Fresh for an hour after it was recorded, which is long ago.
    "style.css": ("text/css", b"h1 { color: rgb(1, 2, 3) }", {"cache-control": "max-age=3600"}),
    "code.js": (
        "text/javascript",
        b"window.ran = true",
        {"expires": "Fri, 02 Jan 2026 12:00:00 GMT"},
    ),
    "never.css": ("text/css", b"h1 { margin: 0 }", {"cache-control": "no-store"}),
    "checked.css": ("text/css", b"h2 { margin: 0 }", {"cache-control": "no-cache", "etag": '"1"'}),
    "picture.png": ("image/png", image(100), {}),
}

pytestmark = pytest.mark.usefixtures("labs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    answers = [
        Answer(path, body, [("content-type", content_type), ("date", DATE), *fields.items()])
        for path, (content_type, body, fields) in EXCHANGES.items()
    ]
    folder = tmp_path_factory.mktemp("hinted")
    return pack_answers(folder, answers, created_at="2026-01-01T12:00:00Z")


def load(site: Path, base: str, early_hints: str) -> dict[str, Any]:
    text = f"""
sites = ["{site}"]
networks = [{{ name = "path", base = "dsl", rtt_ms_min = {RTT_MS} }}]
reference = "asked"
blocks = 1
capture = false
[[stacks]]
name = "asked"
base = "{base}"
think_time = "{THINK_MS} ms"
early_hints = "{early_hints}"
"""
    return load_planned(text, site)


def list_request_times_ms(record: dict[str, Any], path: str) -> list[float]:
    """Return the times at which the servers had requests for an object, from navigation start."""
    start_ns = record["browser"]["navigation_start_ns"]
    return [
        (each["at_ns"] - start_ns) / 1e6
        for each in record["requests"]
        if each["url"] == PAGE_URL + path
    ]


@pytest.mark.parametrize("base", ["tcp+", "quic"])
def test_the_style_sheet_starts_by_the_think_time_sooner(base: str, site: Path) -> None:
    hinted, without = load(site, base, "auto"), load(site, base, "none")
    # The page's response, and with it the style sheet's request, waits; the 103 does not. Both
    # times are after the page's own request, which a busy machine delays alike.
    after_page_ms = [
        list_request_times_ms(record, "style.css")[0] - list_request_times_ms(record, "")[0]
        for record in (hinted, without)
    ]
    assert RTT_MS <= after_page_ms[0] < THINK_MS
    assert after_page_ms[1] >= THINK_MS + RTT_MS
    assert "early_hints" not in without
    seen = hinted["early_hints"]
    assert seen["received"]
    assert seen["hinted"] == [PAGE_URL + path for path in ("style.css", "code.js", "checked.css")]
    never = "is `no-store`: the browser would fetch it twice"
    assert seen["left_out"] == [{"url": f"{PAGE_URL}never.css", "reason": never}]
    assert hint_uses(hinted) == {
        f"{PAGE_URL}style.css": "used",
        f"{PAGE_URL}code.js": "used",
        f"{PAGE_URL}checked.css": "revalidated",
    }
    assert len(list_request_times_ms(hinted, "style.css")) == 1
    sent = [each["url"] for each in hinted["requests"] if each.get("early_hints")]
    assert sent == [PAGE_URL]
