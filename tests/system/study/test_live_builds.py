"""Live builds: real servers on loopback that answer a browser in a lab."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from loads import GOOD
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import iterate_trials

pytestmark = pytest.mark.usefixtures("labs")

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
SLOWER_MS = 50
RTT_MS = 20

SERVER = f"""
import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep({SLOWER_MS} / 1e3)
        body = b"<!doctype html><link rel=icon href=data:,><h1>slow</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


class Shop(BaseHTTPRequestHandler):
    """Redirects to its own URL with a cookie, without which the page is another."""

    protocol_version = "HTTP/1.1"
    asked: list[dict[str, str]]

    def do_GET(self) -> None:
        own = f"http://localhost:{self.server.server_address[1]}"
        self.asked.append({"path": self.path, **self.fields_by_title()})
        if self.path == "/":
            self.reply(302, {"Location": f"{own}/shop", "Set-Cookie": "a=1; Domain=localhost"})
        elif self.path == "/shop":
            known = self.headers.get("Cookie") == "a=1"
            script = f"<script src={own}/a.js></script><script src=https://cdn.test/b.js></script>"
            text = f"<link rel=icon href=data:,>{script}<h1>{known}</h1>"
            self.reply(200, {"Content-Type": "text/html"}, text.encode())
        else:
            script = (
                b"performance.mark('ran'); new WebSocket(location.origin.replace('http', 'ws'))"
            )
            self.reply(200, {"Content-Type": "text/javascript"}, script)

    def fields_by_title(self) -> dict[str, str]:
        """Return its request's fields; our servers write them in lower case."""
        return {name.title(): value for name, value in self.headers.items()}

    def reply(self, status: int, fields: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Plain(Shop):
    """A page at once."""

    def do_GET(self) -> None:
        body = b"<!doctype html><link rel=icon href=data:,><h1>fast</h1>"
        self.reply(200, {"Content-Type": "text/html"}, body)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        cwd=folder,
    )


def run_plan(folder: Path, text: str) -> tuple[subprocess.CompletedProcess[str], list[Any]]:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    done = run(folder, "run", "plan.toml", "--out", "out", "--json")
    records = [each.record for each in iterate_trials(folder / "out")] if done.stdout else []
    return done, records


def test_a_server_that_thinks_for_50_ms_is_that_much_later(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    with serving(Plain) as url:
        plan = f"""
sites = ["live:https://shop.test/"]
networks = [{{ name = "path", rtt = "{RTT_MS}ms" }}]
stacks = ["quic", "tcp+"]
reference = "fast"
blocks = 3
primary_metric = "time_to_first_byte_ms"
variants = [
    {{ name = "fast", live = {{ url = "{url}" }} }},
    {{ name = "slow", live = {{ command = ["{sys.executable}", "server.py"] }} }},
]
"""
        done, records = run_plan(tmp_path, plan)
    assert done.returncode == 0, done.stderr
    assert {each["outcome"] for each in records} <= set(GOOD), records
    found = json.loads(done.stdout)
    for each in records:
        assert {request["match"] for request in each["requests"]} == {"live"}
        live = each["live"]
        assert (live["others"], live["failed"], live["requests"]) == ("blocked", 0, 1)
        assert (live["server_cpu_s"] is None) == (each["trial"]["variant"] == "fast")
        (request,) = each["requests"]
        if each["trial"]["variant"] == "slow":
            # No load can be faster, on however busy a machine.
            assert request["server_us"] >= SLOWER_MS * 1e3
            assert each["navigation"]["time_to_first_byte_ms"] >= SLOWER_MS + 2 * RTT_MS
    builds = {each["variant"]: each for each in found["live_builds"]}
    assert builds["slow"]["documents"] == builds["fast"]["documents"] == 1
    assert "fast: http://localhost:" in done.stderr and "third parties are blocked" in done.stderr


def test_redirects_cookies_and_names_of_the_local_origin_lead_to_the_pages_own(
    tmp_path: Path,
) -> None:
    Shop.asked = []
    with serving(Shop) as url:
        plan = f"""
sites = ["live:https://shop.test/"]
networks = [{{ name = "path", rtt = "{RTT_MS}ms" }}]
stacks = ["tcp+"]
reference = "a"
blocks = 1
variants = [
    {{ name = "a", live = {{ url = "{url}" }} }},
    {{ name = "b", live = {{ url = "{url}" }} }},
]
"""
        done, records = run_plan(tmp_path, plan)
    assert done.returncode == 0, done.stderr
    for each in records:
        urls = [item["url"] for item in each["objects"] if item["failed"] is None]
        assert {"https://shop.test/shop", "https://shop.test/a.js"} <= set(urls)
        assert each["navigation"]["user_timings"].keys() == {"mark:ran"}
        assert each["live"]["names_rewritten"] == 1
        assert each["live"]["fields_rewritten"] == 2
        assert each["live"]["upgrades_refused"] <= 1
    pages = [each for each in Shop.asked if each["path"] == "/shop" and "Cookie" in each]
    assert len(pages) == len(records)
    for each in pages:
        assert each["Host"] == each["X-Forwarded-Host"] == "shop.test"
        assert each["X-Forwarded-Proto"] == "https"
        assert each["X-Forwarded-For"].count(".") == 3


class Changing(Plain):
    """Another document each time."""

    def do_GET(self) -> None:
        body = f"<!doctype html><link rel=icon href=data:,><h1>a<!--{time.time_ns()}--></h1>"
        self.reply(200, {"Content-Type": "text/html"}, body.encode())


def test_a_question_about_two_urls_names_a_build_that_varies(tmp_path: Path) -> None:
    with serving(Plain) as plain, serving(Changing) as changing:
        words = ("ask", "--live", plain, changing, "--rtt", f"{RTT_MS}ms", "--blocks", "2")
        done = run(tmp_path, *words, "--inconclusive", "pass")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    alike, varying = (
        said.partition(f"is live ({url}) in ")[2].partition(". ")[0] for url in (plain, changing)
    )
    assert "its document is the same in all loads" in alike
    assert "not deterministic: 2 different documents in 2 loads" in varying


ENDING = SERVER.replace(
    "time.sleep",
    "Handler.asked = getattr(Handler, 'asked', 0) + 1\n        if "
    "Handler.asked > 4: print('Error: no database', flush=True); os._exit(3)\n        time.sleep",
)


@pytest.mark.parametrize(
    ("live", "reason"),
    [
        ("url = 'http://localhost:9'", "nothing accepts connections at http://localhost:9; "),
        ("command = ['python3', '-c', 'raise SystemError(7)']", "printed: SystemError: 7"),
        ("command = ['PYTHON', 'ending.py']", "during the loads; .* printed: Error: no database"),
    ],
)
def test_a_build_that_cannot_be_loaded_is_one_line(tmp_path: Path, live: str, reason: str) -> None:
    (tmp_path / "ending.py").write_text(ENDING, encoding="utf-8")
    live = live.replace("PYTHON", sys.executable)
    with serving(Plain) as url:
        done, _ = run_plan(
            tmp_path,
            f"""
sites = ["live:https://shop.test/"]
networks = [{{ name = "path", rtt = "{RTT_MS}ms" }}]
stacks = ["quic"]
reference = "a"
blocks = 4
variants = [{{ name = "a", live = {{ url = "{url}" }} }}, {{ name = "b", live = {{ {live} }} }}]
""",
        )
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(f"the live build `b`.*{reason}", last), done.stderr
