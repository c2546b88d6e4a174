"""A page that a lab serves reaches nothing else, whatever it tries, and is an outcome."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
import synthetic_run
from escape_target_machine import METADATA, machine, read_report, touch
from labs import load_in, run_in
from needed_browser import needs
from raw_lab import NOBODY
from reaching_site import DONE, MARKUP, WORDS, pack_reaching_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.browser.observations import LoadEnd
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

BROWSERS = ("chromium", pytest.param("firefox", marks=pytest.mark.full))
LOOPBACK = [("127.0.0.1", 9001), ("::1", 9002), ("127.0.0.1", 9003)]
FORMS = ("127.0.0.1:9001", "[::ffff:127.0.0.1]:9001", "2130706433:9001", "[::1]:9002")
RESOLVER = "127.0.0.53"
COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
NAMES = ("localhost:9003", "far:9006", "tempting.example:9001")
"""The loopback's, a lab's other side's, and one that nobody knows."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that every user may read."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("chromium", ()),
        pytest.param("firefox", (), marks=pytest.mark.full),
        ("chromium", NOBODY),
    ],
    ids=["chromium", "firefox", "chromium of an ordinary user"],
)
def test_a_page_in_a_lab_reaches_nothing_outside_of_it(new_lab, folder, name, user):
    needs(name)
    with new_lab(site=None) as host, new_lab(site=None) as second:
        # The first lab's client side is the machine that loads; its server side is another network.
        far, near = host.ready.server_address, host.ready.client_address
        for word in (
            f"ip address add {METADATA}/32 dev lo",
            f"echo nameserver {RESOLVER} > /etc/resolv.conf",
        ):
            done = run_in(host, "sh", "-c", word)
            assert done.returncode == 0, done.stderr
        own = [*LOOPBACK, (METADATA, 80), (near, 9005), (RESOLVER, 53)]
        theirs = [(second.ready.client_address, 9007), (second.ready.server_address, 9008)]
        targets = [*FORMS, *NAMES, f"{METADATA}:80", f"{near}:9005", f"{far}:9006"]
        targets += [f"{address}:{port}" for address, port in theirs]
        site = pack_reaching_site(folder, targets)
        with ExitStack() as stack:
            places = (
                (host.command_prefix, own, host.command_prefix),
                (host.server_command_prefix, [(far, 9006)], host.command_prefix),
                (second.command_prefix, theirs[:1], second.server_command_prefix),
                (second.server_command_prefix, theirs[1:], second.command_prefix),
            )
            machines = []
            for prefix, listen, neighbour in places:
                made = machine(prefix, page=None, listen=listen, ask=[])
                machines.append(stack.enter_context(made))
                # Each of them is there, for whoever may reach it.
                touch(neighbour, listen)
            command = [*host.command_prefix, *user, *COMMAND, "load", str(site), "--json"]
            command += ["--network", "lte", "--browser", name, "--no-capture", "--timeout", "8s"]
            done = subprocess.run(
                command,
                cwd="/",
                env={**os.environ, "HOME": "/nonexistent"},
                capture_output=True,
                text=True,
                timeout=TEST_TIMEOUT_S,
                check=False,
            )
            hits = [read_report(each)["hits"] for each in machines]
    assert [set(each.values()) for each in hits] == [{1}] * 4, hits
    assert not any(byte in done.stdout + done.stderr for byte in "\x1b\x07\x9b")
    assert "Traceback" not in done.stderr and done.stdout, done.stderr
    (load,) = json.loads(done.stdout)
    assert load["outcome"] in OUTCOMES_BY_NAME, load["outcome_detail"]
    tried = {item["url"] for item in load["objects"]}
    assert f"https://{METADATA}:80/fetch" in tried, (load["outcome_detail"], tried)
    assert DONE in tried or load["outcome"] != "ok"


@pytest.mark.parametrize("name", BROWSERS)
def test_nothing_but_the_network_refuses_the_tries(new_lab, folder, name):
    """Within the lab itself they arrive: at each listener, by TCP and by UDP."""
    settings = needs(name, timeout_s=8.0)
    listen = [*LOOPBACK, (METADATA, 80)]
    site = pack_reaching_site(folder, [*FORMS, NAMES[0], f"{METADATA}:80"])
    with new_lab(site=site) as lab:
        added = run_in(lab, "ip", "address", "add", f"{METADATA}/32", "dev", "lo")
        assert added.returncode == 0, added.stderr
        with machine(lab.command_prefix, page=None, listen=listen, ask=[]) as inside:
            raw = load_in(lab, browser=settings)
            seen = read_report(inside)
    assert raw.ended in get_args(LoadEnd)
    assert raw.console_errors[0] == WORDS
    assert all(count > 3 for count in seen["hits"].values()), seen["hits"]
    by_udp = {"chromium": "stun", "firefox": "quic"}[name]
    for place, heard in seen["heard"].items():
        assert ("tls" if place.startswith("tcp") else by_udp) in heard, seen["heard"]


def test_its_words_are_text_in_terminal_and_report(folder, monkeypatch):
    """Its title, an element's name and a load's detail as this page has them."""
    site = pack_reaching_site(folder, [])
    info = subprocess.run(
        [*COMMAND, "site", "info", str(site)], capture_output=True, text=True, check=True
    )
    record_of = synthetic_run.record_of

    def worded(*arguments: Any) -> dict[str, Any]:
        record = record_of(*arguments)
        record["navigation"]["largest_contentful_paint_element"] = f"h1#{WORDS}"
        record["outcome_detail"] = record["outcome_detail"] and WORDS
        return record

    monkeypatch.setattr(synthetic_run, "record_of", worded)
    synthetic_run.write_run(folder / "run", outcomes={("startup/dsl/1", "quic"): "starved"})
    shown = subprocess.run(
        [*COMMAND, "report", str(folder / "run")], capture_output=True, text=True, check=True
    )
    (page,) = (folder / "run").glob("report*.html")
    text = page.read_text(encoding="utf-8")
    assert MARKUP not in text and escape(MARKUP) in text
    for said in (info.stdout, shown.stdout, shown.stderr):
        assert not any(byte in said for byte in "\x1b\x07\x9b")
