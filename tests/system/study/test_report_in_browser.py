"""The report page in a real Chromium: no console error, nothing fetched, nothing cut off."""

import json
import re
import time
from contextlib import contextmanager

import pytest
from synthetic_run import metrics_of, write_run
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.chromium.process import Chromium, find_executable
from eyelevel.browser.processes import new_profile
from eyelevel.report.page import build_report

DRAWN = """new Promise((done) => {
  const look = () => {
    const drawn = document.documentElement?.dataset.drawn;
    if (drawn) done(drawn);
  };
  const all = { attributes: true, childList: true, subtree: true };
  new MutationObserver(look).observe(document, all);
  look();
})"""


WORDS = """(() => {
  const charts = [...document.querySelectorAll("svg")];
  for (const chart of charts) chart.style.display = "none"; // the numbers of axes are no words
  const count = document.querySelector("main").innerText.split(/\\s+/).length;
  for (const chart of charts) chart.style.display = "";
  return count;
})()"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    try:
        find_executable()
    except BrowserStartError as error:
        pytest.skip(str(error))
    directory = tmp_path_factory.mktemp("run")
    directory.chmod(0o755)  # the browser is somebody else
    write_run(directory, {("dashboard/lte/1", "tcp"): "timeout"})
    return build_report(directory, metrics_of)


class Page:
    """One tab, what it logged and what it asked the network for."""

    def __init__(self, devtools):
        self.devtools = devtools
        self.session = ""
        self.logged = []
        self.requested = []
        devtools.on_event = self._event
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, parameters=None):
        deadline = time.monotonic() + TEST_TIMEOUT_S
        return self.devtools.call(method, parameters, self.session, deadline)

    def value(self, expression):
        parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", parameters)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def show(self, path, width_px, scheme):
        metrics = {"width": width_px, "height": 844, "deviceScaleFactor": 1}
        mobile = {"mobile": width_px < 600}
        self.call("Emulation.setDeviceMetricsOverride", metrics | mobile)
        self.scheme(scheme)
        self.call("Page.navigate", {"url": path.as_uri()})
        assert self.value(DRAWN) == "yes"

    def review(self):
        """Open what stands behind "For reviewers", and wait for the charts in it."""
        self.value(
            """new Promise((done) => {
              document.querySelector("details.reviewers").open = true;
              const look = () => {
                const shown = document.querySelectorAll("figure:not([hidden]) > .chart");
                if ([...shown].every((each) => each.querySelector("svg"))) done(true);
                else requestAnimationFrame(look);
              };
              look();
            })"""
        )

    def scheme(self, name):
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", {"features": features})

    def choose(self, identity, value):
        """Choose in a select and wait until two frames have been painted since."""
        self.value(
            f"""new Promise((done) => {{
              const select = document.getElementById("{identity}");
              select.value = "{value}";
              select.dispatchEvent(new Event("change"));
              requestAnimationFrame(() => requestAnimationFrame(done));
            }})"""
        )

    def _event(self, method, parameters, session):
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.logged.append(parameters)
        elif method == "Network.requestWillBeSent":
            self.requested.append(parameters["request"]["url"])


@contextmanager
def browser(of_reports):
    with new_profile() as folder:
        arguments = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "about:blank"]
        with Chromium(arguments, folder, readable=[of_reports]) as chromium:
            yield Page(DevTools(chromium.to_browser_fd, chromium.from_browser_fd))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width_px", [1366, 390])
def test_the_page_draws_without_error_and_fits(report, width_px, scheme):
    with browser(report.parent) as page:
        page.show(report, width_px, scheme)
        assert page.logged == []
        assert [url for url in page.requested if not url.startswith("data:")] == [report.as_uri()]
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.value(overflow) == 0
        assert page.value("document.querySelectorAll('.chart svg').length") == 4
        assert page.value(WORDS) <= 500
        page.review()
        assert page.value("document.querySelectorAll('.chart svg').length") == 8
        assert page.value(overflow) == 0
        assert page.logged == []
        widest = "Math.max(...[...document.querySelectorAll('svg')].map(s => s.clientWidth))"
        assert page.value(widest) <= width_px
        lightness = page.value("getComputedStyle(document.body).backgroundColor")
        assert (lightness == "rgb(21, 24, 26)") == (scheme == "dark")


def test_what_is_chosen_is_shown(report):
    with browser(report.parent) as page:
        page.show(report, 1366, "light")
        page.review()
        paths = "document.querySelector('#curve-0').innerHTML"
        before = page.value(paths)
        page.choose("site", "startup")
        assert page.value(paths) != before
        assert page.value("document.querySelectorAll('#filmstrip tbody tr').length") == 2
        page.value("document.getElementById('filmstrip').closest('details').open = true")
        page.choose("strip-site", "dashboard")
        page.choose("strip-network", "lte")
        page.choose("strip-first", "tcp+")
        page.choose("strip-second", "quic")
        text = page.value("document.getElementById('filmstrip').innerText")
        assert "dashboard on lte" in text and "tcp+" in text
        images = "[...document.querySelectorAll('#filmstrip img')]"
        assert page.value(f"{images}.every(i => i.complete && i.naturalWidth > 0 && i.alt)")
        said = page.value("document.querySelector('#strip-progress svg').ariaLabel")
        assert said.startswith("tcp+: half after ") and "; quic: half after " in said
        strokes = "[...document.querySelectorAll('#strip-progress path')].map(p => p.style.stroke)"
        first, second = page.value(strokes)
        swatches = "[...document.querySelectorAll('#strip-progress .swatch')].map(s => s.className)"
        numbers = [name.partition("stack-")[2] for name in page.value(swatches)]
        assert [first, second] == [f"var(--stack-{number})" for number in numbers]
        moment = "document.querySelector('#strip-progress line + line').x1.baseVal.value"
        at = page.value("Number(document.getElementById('strip-time').value)")
        end = page.value("Number(document.getElementById('strip-time').max)")
        assert page.value(moment) == pytest.approx(1000 * at / end, abs=0.1)
        page.scheme("dark")
        page.review()
        assert page.value("document.querySelectorAll('.chart svg').length") == 8
        assert page.logged == []


def test_filters_hide_networks_stacks_and_rows_and_tables_sort(report):
    with browser(report.parent) as page:
        page.show(report, 1366, "light")
        page.review()
        page.choose("network", "lte")
        assert page.value("document.querySelectorAll('figure[hidden]').length") == 1
        page.value("document.querySelector('button.key[data-stack=\"quic\"]').click()")
        by_site = "document.querySelector('[aria-labelledby=sites] table.cells')"
        shown = f"[...{by_site}.tBodies[0].rows]"
        names = "r.cells[1].innerText + r.cells[2].innerText"
        visible = f"{shown}.filter(r => !r.hidden).map(r => {names})"
        assert set(page.value(visible)) == {"ltetcp+"}
        traces = (
            "[...document.querySelector('[aria-labelledby=parts] table.cells').tBodies[0].rows]"
        )
        names = "r.cells[0].innerText + r.cells[1].innerText"
        assert page.value(f"{traces}.filter(r => !r.hidden).map(r => {names})") == [
            "ltetcp",
            "ltetcp+",
        ]
        page.choose("network", "all networks")
        page.value("document.querySelector('button.key[data-stack=\"quic\"]').click()")
        page.value(f"{by_site}.querySelectorAll('.sort')[5].click()")
        medians = page.value(
            f"{shown}.map(r => parseFloat(r.cells[5].innerText.replace(/\\s/g, '')))"
        )
        numbers = [number for number in medians if number is not None]
        assert len(numbers) > 4 and numbers == sorted(numbers)
        assert page.value("document.querySelectorAll('button.export').length") > 5
        assert page.logged == []


def test_the_papers_figures_are_drawn_when_opened(report):
    with browser(report.parent) as page:
        page.show(report, 1366, "dark")
        page.review()
        assert page.value("document.querySelectorAll('.drawing svg').length") == 0
        count = page.value(
            """new Promise((done) => {
              const figures = [...document.querySelectorAll("details.figure")];
              for (const each of figures) each.open = true;
              const look = () => {
                const drawn = document.querySelectorAll(".drawing svg").length;
                if (drawn === figures.length) done(drawn); else requestAnimationFrame(look);
              };
              look();
            })"""
        )
        assert count >= 6
        assert page.logged == []


def test_the_pair_starts_at_zero_on_the_headlines_network_with_two_loads_of_one_block(report):
    with browser(report.parent) as page:
        page.show(report, 1366, "light")
        assert page.value("document.getElementById('strip-time').value") == "0"
        headline = page.value("document.querySelector('.headline').textContent")
        network = page.value("document.getElementById('strip-network').value")
        assert headline.index(network) == min(headline.index(name) for name in ("dsl", "lte"))
        blocks = page.value(
            "[...document.querySelectorAll('#filmstrip th small')].map(e => e.textContent)"
        )
        assert len({text.partition("block ")[2] for text in blocks}) == 1


def test_a_pair_that_never_differs_is_said_to_be_alike(report):
    with browser(report.parent) as page:
        page.show(report, 1366, "light")
        page.choose("strip-second", page.value("document.getElementById('strip-first').value"))
        said = page.value("document.getElementById('strip-apart').textContent")
        assert said == "Both show the same share of the picture at every moment."


STRIPS = re.compile(r'(<script [^>]*id="strips"[^>]*>)(.*?)(</script>)', re.DOTALL)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_it_says_how_long_the_largest_difference_lasts(report, share):
    """One load shows all of the picture at 100 ms, and the other a share of the load later."""
    text = report.read_text(encoding="utf-8")
    data = json.loads(STRIPS.search(text)[2])
    for strip in data["strips"]:
        end_ms = max(each["changes"][-1][0] for each in strip["stacks"].values())
        for each in strip["stacks"].values():
            each["progress"] = [[100, 0.2], [100 + share * end_ms, 1]]
        strip["stacks"]["quic"]["progress"] = [[100, 1]]
    altered = report.with_name(f"altered-{share}.html")
    found = STRIPS.sub(lambda part: part[1] + json.dumps(data) + part[3], text)
    altered.write_text(found, encoding="utf-8")
    with browser(report.parent) as page:
        page.show(altered, 1366, "light")
        page.choose("strip-second", "quic")
        said = page.value("document.getElementById('strip-apart').textContent")
    assert said.startswith(
        "They differ most at 0.1\N{NO-BREAK SPACE}s, by 80 % of the picture; at "
    )
    assert said.endswith(", less than a tenth of the load.") == (share < 0.1)
