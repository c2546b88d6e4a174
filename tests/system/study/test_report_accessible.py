"""The report for everyone: axe finds nothing serious, the keyboard reaches every control."""

import csv
import io

import pytest
import written_pages
from hang import HANG_S
from made_up_run import metrics_of, write_run
from PIL import Image

from eyelevel.browser.chromium.process import find_executable
from eyelevel.errors import BrowserStartError
from eyelevel.report.page import build_report

sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe

OUTCOMES = {("dashboard/lte/1", "tcp"): "timeout", ("startup/dsl/2", "quic"): "starved"}
LOUD = ("serious", "critical")
PAPER = 252
"""How light the page is, of 255."""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    write_run(directory, OUTCOMES)
    return build_report(directory, metrics_of).as_uri()


@pytest.fixture(scope="module")
def chromium():
    try:
        executable = find_executable()
    except BrowserStartError as error:
        pytest.skip(str(error))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, report):
    pages = []

    def open_one(width_px=1366, scheme="light", *, review=False):
        size = {"width": width_px, "height": 844}
        page = chromium.new_page(viewport=size, color_scheme=scheme)
        pages.append(page)
        page.set_default_timeout(HANG_S * 1e3)
        page.goto(report)
        page.wait_for_selector("html[data-drawn]")
        if review:
            page.evaluate("document.querySelector('details.reviewers').open = true")
            page.wait_for_selector("#curve-0 svg")
        return page

    yield open_one
    for page in pages:
        page.close()


@pytest.mark.parametrize(("width_px", "scheme"), [(1366, "light"), (390, "dark")])
def test_axe_finds_nothing_serious(open_page, width_px, scheme):
    page = open_page(width_px, scheme)
    for details in page.locator("details").all():
        details.evaluate("each => each.open = true")
    found = Axe().run(page).response["violations"]
    assert [each for each in found if each["impact"] in LOUD] == []


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    return written_pages.probes(tmp_path_factory.mktemp("probes")).as_uri()


@pytest.mark.parametrize("width_px", [1366, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_page_on_probes(chromium, probes, width_px, scheme):
    page = chromium.new_page(
        viewport={"width": width_px, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
    )
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(HANG_S * 1e3)
    page.goto(probes)
    page.wait_for_selector("svg")
    for details in page.locator("details").all():
        details.evaluate("each => each.open = true")
    found = Axe().run(page).response["violations"]
    wide_px = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert [each for each in found if each["impact"] in LOUD] == [] and errors == []
    assert wide_px <= width_px, "the page scrolls sideways"


def test_an_edge_is_shaded_where_a_table_goes_on_behind_it(chromium, probes):
    page = chromium.new_page(viewport={"width": 1366, "height": 844}, color_scheme="light")
    page.goto(probes)

    def shaded(table):
        """Whether the left and the right edge of what is shown of a table are darker than paper."""
        shown = Image.open(io.BytesIO(table.screenshot())).convert("L")
        last = shown.height - 3  # below the text
        return [PAPER - shown.getpixel((at, last)) > 20 for at in (0, shown.width - 1)]

    def room_px(table):
        return table.evaluate("each => each.scrollWidth - each.clientWidth")

    whole, wide = (
        page.locator("section:has(#datasets) .scroll"),
        page.locator("section:has(#differences) .scroll").first,
    )
    assert room_px(whole) == 0 < room_px(wide)
    assert (shaded(whole), shaded(wide)) == ([False, False], [False, True])
    wide.evaluate("each => each.scrollLeft = each.scrollWidth")
    assert shaded(wide) == [True, False]
    page.close()


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
    assert page.get_attribute("#strip-time", "aria-valuetext") == "2.00 s"
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
    export = page.locator("section[aria-labelledby=sites] details[open] button.export")
    with page.expect_download() as download:
        export.click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert rows[0][:5] == ["site", "network", "stack", "reference", "pairs"]
    assert len(rows) == 5 and {row[1] for row in rows[1:]} == {"dsl"}


def test_every_excluded_block_is_told(open_page):
    text = open_page(review=True).locator("section[aria-labelledby=outcomes]").inner_text()
    assert "Excluded blocks, with the loads of all stacks: 1 of 12" in text
    assert "quic: starved" in text
