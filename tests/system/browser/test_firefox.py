"""Loads with the real Firefox through a lab, by the command."""

import dataclasses
import shutil
import subprocess
from pathlib import Path

import pytest
from loads import COMMAND, load
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.metrics.browser import largest_contentful_paint_parts
from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.store.directory import iterate_trials
from eyelevel.store.packed import read_messages

try:
    find_firefox()
except BrowserStartError as error:
    pytest.skip(str(error), allow_module_level=True)
if absent := [name for name in ("Xvfb", "certutil", "ffmpeg") if shutil.which(name) is None]:
    pytest.skip(f"not installed: {', '.join(absent)}", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("labs")
SITE = "synthetic:objects=6,object_bytes=20000,origins=2"
RTT_MS = 100


def test_a_page_comes_over_http3_to_the_labs_own_certificate_and_is_filmed(tmp_path: Path) -> None:
    stack, protocol, trips = "quic", "h3", 1
    options = ("--browser", "firefox", "--stack", stack, "--network", "cable")
    trial = load(SITE, *options, out=tmp_path)
    (stored,) = iterate_trials(trial["kept_in"])
    record = stored.record
    assert record["versions"]["browser"].startswith("Firefox/")
    assert record["browser"]["filmed"] is True
    fetched = [item for item in record["objects"] if item["from"] == "network"]
    assert {item["protocol"] for item in fetched} == {protocol} and len(fetched) == 6
    assert {c["protocol"] for c in record["connections"]} == {protocol}, "nothing went by TCP"
    assert len({item["url"].split("/")[2] for item in fetched}) == 2, "two certificates"
    # Round trips to an open connection; a busy machine adds less than the half of one.
    began, ended = fetched[0]["connect_ms"]
    assert (ended - began) / 28 >= trips - 0.05
    navigation = record["navigation"]
    assert navigation["long_tasks_ms"] is None and navigation["cumulative_layout_shift"] is None
    assert 0 < navigation["time_to_first_byte_ms"] < navigation["first_contentful_paint_ms"]
    assert navigation["page_load_time_ms"] > 0
    parts = largest_contentful_paint_parts(record)
    assert parts is not None and min(dataclasses.astuple(parts)) >= 0
    largest_ms = navigation["largest_contentful_paint_ms"]
    assert sum(dataclasses.astuple(parts)) == pytest.approx(largest_ms, abs=1e-6)
    frames = list(stored.frames())
    assert (frames[0].picture == 255).all() and len(frames) >= 2
    messages = read_messages(stored.path, len(record["objects"]))
    for item, message in zip(record["objects"], messages, strict=True):
        if item["from"] == "network":
            assert "user-agent" in {name.lower() for name, _ in message["request_fields"]}
            assert "content-type" in {name.lower() for name, _ in message["response_fields"]}
    # A film sees what is painted after it was painted, and after it was asked for.
    assert frames[1].at_ms > navigation["time_to_first_byte_ms"]


@pytest.mark.full
def test_a_repeat_visit_resumes_and_finds_nothing_of_the_first() -> None:
    options = ("--browser", "firefox", "--stack", "quic+0rtt", "--visit", "repeat")
    trial = load(SITE, *options, "--network", "cable")
    in_force = [each["in_force"] for each in trial["connections"]]
    assert len(in_force) == 2 and all(each["resumed"] for each in in_force)
    assert all(each["early_data_accepted"] for each in in_force)
    # Only the measured visit, nothing of it from a cache.
    assert len(trial["requests"]) == len({each["url"] for each in trial["requests"]}) == 6
    assert {each["from"] for each in trial["objects"]} <= {"network", "data"}


def test_what_firefox_cannot_do_is_refused() -> None:
    command = [*COMMAND, "load", SITE, "--browser", "firefox"]
    for asked, said in (
        (["--device", "moto-g"], "`cpu_slowdown`: Firefox cannot slow down a page's scripts"),
        (["--visit", "repeat", "--stack", "quic"], "Firefox resumes a QUIC session only where"),
    ):
        done = subprocess.run(
            [*command, *asked], capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
        )
        assert done.returncode == 2
        assert said in done.stderr
