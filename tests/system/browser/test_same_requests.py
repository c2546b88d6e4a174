"""A page's date and randomness are held, and the rest of it is let be."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.same_requests import SameRequests
from eyelevel.plan.browser import Browser

RECORDED_AT_UNIX_MS = 1_519_210_645_000  # 2018-02-21

PAGE = b"""<!doctype html><title>page</title><script>
class Day extends Date { twice() { return 2; } }
const said = {
  random: [Math.random(), Math.random()],
  values: crypto.getRandomValues(new Uint32Array(2)).join(),
  year: new Date().getFullYear(),
  called: Date().slice(11, 15),
  agrees: Math.abs(Date.now() - new Date()) < 1000,
  parsed: new Date(2020, 1).getMonth(),
  is_date: new Date() instanceof Date && new Date().constructor === Date,
  subclass: [new Day().twice(), new Day().getFullYear()],
  runs: performance.now() < 60000,
};
fetch('/said?' + encodeURIComponent(JSON.stringify(said)));
</script>"""
SCRIPT = b"""(window.drawn ??= {})[document.currentScript.src.at(-4)] =
  [Math.random(), crypto.randomUUID()];
if (Object.keys(drawn).length === 2) fetch('/said?' + JSON.stringify(drawn));"""
SCRIPTS = [f"<script src=/{name}.js></script>" for name in "ab"]
ORDERS = ["<!doctype html>" + "".join(order) for order in (SCRIPTS, reversed(SCRIPTS))]


@pytest.fixture
def server():
    asked, orders = [], iter(ORDERS)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(unquote(self.path))
            script = self.path.endswith(".js")
            self.send_response(200)
            self.send_header("content-type", "text/javascript" if script else "text/html")
            self.end_headers()
            body = next(orders).encode() if self.path == "/order" else PAGE
            self.wfile.write(SCRIPT if script else body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/", asked
        httpd.shutdown()
        thread.join()


def _said(server, same_requests, path=""):
    url, asked = server
    asked.clear()
    settings = LoadSettings(
        url=url + path, browser=Browser(capture=False), quiet_s=0.3, same_page=same_requests
    )
    assert load_page(settings).ended == "complete"
    return next(json.loads(path[6:]) for path in asked if path.startswith("/said?"))


def test_two_loads_ask_for_the_same_and_the_date_is_the_recordings(server):
    first = _said(server, SameRequests(RECORDED_AT_UNIX_MS))
    assert _said(server, SameRequests(RECORDED_AT_UNIX_MS)) == first
    assert first["random"][0] != first["random"][1]
    assert (first["year"], first["called"], first["parsed"]) == (2018, "2018", 1)
    assert first["agrees"] and first["is_date"] and first["runs"]
    assert first["subclass"] == [2, 2018]


def test_what_a_script_draws_does_not_hang_on_which_came_first(server):
    first = _said(server, SameRequests(RECORDED_AT_UNIX_MS), "order")
    assert _said(server, SameRequests(RECORDED_AT_UNIX_MS), "order") == first
    assert first["a"][0] != first["b"][0] and first["a"][1] != first["b"][1]


def test_it_can_be_turned_off(server):
    first, second = _said(server, None), _said(server, None)
    assert first["random"] != second["random"]
    assert first["year"] > 2018
