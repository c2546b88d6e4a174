"""The report for everyone: axe finds nothing serious, the keyboard reaches every control."""

import csv
import io
from contextlib import ExitStack

import pytest
import written_pages
from opened_page import READERS, chromium_of_playwright, opened
from PIL import Image
from synthetic_run import metrics_of, write_run

from eyelevel.report.page import build_report

OUTCOMES = {("dashboard/lte/1", "tcp"): "timeout", ("startup/dsl/2", "quic"): "starved"}
PAPER = 252
"""How light the page is, of 255."""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    write_run(directory, OUTCOMES)
    return build_report(directory, metrics_of).as_uri()


@pytest.fixture(scope="module")
def chromium():
    with chromium_of_playwright() as browser:
        yield browser


@pytest.fixture
def open_report(chromium, report):
    with ExitStack() as until_the_end:

        def open_one(width_px=1366, scheme="light", *, review=False):
            it = until_the_end.enter_context(opened(chromium, report, width_px, scheme))
            it.page.wait_for_selector("html[data-drawn]")
            if review:
                it.page.evaluate("document.querySelector('details.reviewers').open = true")
                it.page.wait_for_selector("#curve-0 svg")
            return it

        yield open_one


@pytest.fixture
def open_page(open_report):
    return lambda **how: open_report(**how).page


def unfold(page):
    for details in page.locator("details").all():
        details.evaluate("each => each.open = true")


@pytest.mark.parametrize(("width_px", "scheme"), READERS)
def test_it_is_for_everyone(open_report, width_px, scheme):
    it = open_report(width_px, scheme)
    unfold(it.page)
    assert it.faults() == []


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    return written_pages.probes(tmp_path_factory.mktemp("probes")).as_uri()


@pytest.mark.parametrize("width_px", [1366, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_on_probes_is_for_everyone(chromium, probes, width_px, scheme):
    with opened(chromium, probes, width_px, scheme) as it:
        it.page.wait_for_selector("svg")
        unfold(it.page)
        assert it.faults() == []


BAD = """<!doctype html><html lang=en><title>Bad</title><main><h1>Bad</h1><img src=data:,>
<p style="width: 2000px">wide</p><img alt="" src=http://127.0.0.1:9/><script>gone()</script></main>
"""


def test_what_readers_stumble_over_is_found(chromium, tmp_path):
    (tmp_path / "bad.html").write_text(BAD, encoding="utf-8")
    with opened(chromium, (tmp_path / "bad.html").as_uri()) as it:
        thrown, (barrier, places), *more = it.faults()
    assert "gone" in thrown and (barrier, len(places)) == ("image-alt", 1)
    assert more == ["scrolls sideways", "http://127.0.0.1:9/"]


def test_an_edge_is_shaded_where_a_table_goes_on_behind_it(chromium, probes):
    def shaded(table):
        """Whether the left and the right edge of what is shown of a table are darker than paper."""
        shown = Image.open(io.BytesIO(table.screenshot())).convert("L")
        last = shown.height - 3  # below the text
        return [PAPER - shown.getpixel((at, last)) > 20 for at in (0, shown.width - 1)]

    def room_px(table):
        return table.evaluate("each => each.scrollWidth - each.clientWidth")

    with opened(chromium, probes) as it:
        whole = it.page.locator("section:has(#datasets) .scroll")
        wide = it.page.locator("section:has(#differences) .scroll").first
        assert room_px(whole) == 0 < room_px(wide)
        assert (shaded(whole), shaded(wide)) == ([False, False], [False, True])
        wide.evaluate("each => each.scrollLeft = each.scrollWidth")
        assert shaded(wide) == [True, False]


def test_one_slider_moves_both_loads(open_page):
    page = open_page()
    page.focus("#strip-time")
    page.keyboard.press("Home")
    pictures = "[...document.querySelectorAll('#strip-stage img')].map(each => each.src)"
    first = page.evaluate(pictures)
    assert len(first) == 2 and page.locator("#strip-now").inner_text() == "0.00 s"
    page.keyboard.press("End")
    last = page.evaluate(pictures)
    assert first[0] != last[0] and first[1] != last[1]
    assert page.get_attribute("#strip-time", "aria-valuetext") == "0.70 s"
    assert "last change at" in page.locator("#strip-stage").inner_text()


def test_the_keyboard_reaches_every_control(open_page):
    page = open_page(review=True)
    reached = set()
    for _ in range(300):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    for wanted in (
        "metric",
        "network",
        "site",
        "key",
        "strip-time",
        "strip-play",
        "sort",
        "export",
    ):
        assert wanted in reached, wanted


def test_a_table_is_saved_as_csv_as_it_is_shown(open_page):
    page = open_page(review=True)
    page.select_option("#network", "dsl")
    export = page.locator("section[aria-labelledby=sites] button.export").first
    with page.expect_download() as download:
        export.click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert rows[0][:5] == ["site", "network", "stack", "reference", "pairs"]
    assert len(rows) == 5 and {row[1] for row in rows[1:]} == {"dsl"}


CELLS = {
    "=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "-2+3": "'-2+3", "+cmd|x!A0": "'+cmd|x!A0",
    "'=1": "''=1", "-": "-", "-3.2 %": "-3.2 %", "+12 ms": "+12 ms", "−4": "−4", "a=b": "a=b",
}  # fmt: skip


def test_no_saved_cell_is_a_formula(open_page):
    page = open_page(review=True)
    table = page.locator("section[aria-labelledby=sites] .table").first
    cells = table.locator("tbody tr td:first-of-type, tbody tr th:first-of-type")
    cells.first.evaluate(
        "(cell, said) => { const row = cell.closest('tr'); for (const each of said) {"
        " const more = row.cloneNode(true); more.children[0].textContent = each;"
        " row.before(more); } }",
        list(CELLS),
    )
    with page.expect_download() as download:
        table.locator("button.export").first.click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert [row[0] for row in rows[1 : len(CELLS) + 1]] == list(CELLS.values())


def test_every_excluded_block_is_told(open_page):
    text = open_page(review=True).locator("section[aria-labelledby=outcomes]").inner_text()
    assert "Blocks with loads that are left out: 1 of 12" in text
    assert "quic: starved" in text
