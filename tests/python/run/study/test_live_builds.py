"""A plan's live builds, started and warmed: real servers on loopback."""

import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from eyelevel.base.errors import ExpectedError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.synthetic_site import parse_synthetic
from eyelevel.run.study.live_builds import check_execution, describe_builds, start_live_builds
from eyelevel.sites.recorded import open_site

SERVER = """
import os, socket, time
while time.process_time() < 0.1:
    pass  # the kernel counts in steps of 10 ms
with socket.create_server(("127.0.0.1", int(os.environ["PORT"]))) as server:
    while True:
        connection, _ = server.accept()
        connection.recv(9999)
        connection.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nhello")
        connection.close()
"""


class Handler(BaseHTTPRequestHandler):
    """Has one page, for one host."""

    asked: list[tuple[str, str | None, str | None]]

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["Host"], self.headers["X-Forwarded-Proto"]))
        is_there = self.path == "/cart?a=1" and self.headers["Host"] == "shop.test"
        self.send_response(200 if is_there else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Handler.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()


def plan_of(live: str, page: str = "https://shop.test/cart?a=1"):
    text = f"""
sites = ["live:{page}"]
networks = ["dsl"]
stacks = ["quic"]
variants = [{{ name = "main", live = {{ {live} }} }}, {{ name = "pr", live = {{ {live} }} }}]
reference = "main"
blocks = 5
"""
    plan = parse_plan(text, "plan.toml")
    return plan, [open_site(name) for name in plan.sites]


def test_a_running_server_is_warmed_as_labs_ask_it(url: str) -> None:
    plan, sites = plan_of(f'url = "{url}"')
    with start_live_builds(plan, sites) as builds:
        build = builds["pr"]
        port = url.rpartition(":")[2]
        setting = build.lab_setting()
        assert setting["address"] == f"127.0.0.1:{port}"
        assert {f"localhost:{port}", f"[::1]:{port}"} <= set(setting["authorities"])
        assert build.cpu_s() is None
        lines = list(describe_builds(builds, sites))
    assert Handler.asked == [("/cart?a=1", "shop.test", "https")] * 6
    assert lines[1] == (
        f"pr: {url} answers for https://shop.test, third parties are blocked; warmed by 3 requests"
    )


def test_a_command_is_started_at_a_free_port_and_its_time_is_counted(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER, encoding="utf-8")
    plan, sites = plan_of(f'command = ["{sys.executable}", "{server}"]')
    with start_live_builds(plan, sites) as builds:
        build = builds["main"]
        assert build.port != builds["pr"].port
        spent = build.cpu_s()
        assert spent is not None and 0.08 <= spent < 5
        assert build.find_end() == "" and build.session is not None
        os.kill(build.session, signal.SIGKILL)
        os.waitid(os.P_PID, build.session, os.WEXITED | os.WNOWAIT)
        assert "ended with status -9 during the loads" in build.find_end()


@pytest.mark.parametrize(
    ("live", "page", "reason"),
    [
        ("url = 'URL'", "https://shop.test/", r"/: the server answered 404 to a request for http"),
        ("url = 'URL'", "https://else.test/cart?a=1", "serve that page to the host else.test"),
        ("url = 'http://localhost:FREE'", "https://shop.test/", "nothing accepts connections at"),
        ("url = 'URL', command = ['true']", "https://shop.test/", "already accepts connections"),
        ("command = ['no-such-program']", "https://shop.test/", "did not start: "),
        ("command = ['python3', '-c', '1/0']", "https://shop.test/", "printed: ZeroDivisionError"),
    ],
)
def test_a_build_that_cannot_be_loaded_is_named(url: str, live: str, page: str, reason: str):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    plan, sites = plan_of(live.replace("URL", url).replace("FREE", str(port)), page)
    with (
        pytest.raises(ExpectedError, match=f"^the live build `main`.*{reason}") as refused,
        start_live_builds(plan, sites),
    ):
        pass
    assert "\n" not in str(refused.value)


def test_loads_beside_each_other_or_elsewhere_are_refused(url: str) -> None:
    plan, _ = plan_of(f'url = "{url}"')
    check_execution(plan, 1, "")
    for jobs, cluster, option in ((2, "", "--jobs 2"), (1, "local:2", "--cluster local:2")):
        with pytest.raises(ExpectedError, match=re.escape(option)):
            check_execution(plan, jobs, cluster)


def test_pages_of_one_host_have_names_of_their_own() -> None:
    urls = (
        "https://shop.test",
        "https://shop.test/",
        "https://shop.test/a",
        "https://shop.test/?a",
    )
    names = [parse_synthetic(f"live:{url}").name for url in urls]
    assert names[:2] == ["live-shop.test"] * 2
    assert len(set(names[1:])) == 3
