"""What pages are shown in, by the command: it reaches the browser and stands in the record."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from loads import COMMAND, load
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import iterate_trials

pytestmark = pytest.mark.usefixtures("labs")


def test_device_and_blocked_hosts_reach_the_browser_and_the_record(tmp_path: Path) -> None:
    options = ("--device", "moto-g", "--cpu-slowdown", "1", "--block", "fonts-api.example")
    options = (*options, "--color-scheme", "dark", "--no-javascript")
    trial = load("agency", "--network", "fios", *options, out=tmp_path)
    (stored,) = iterate_trials(trial["kept_in"])
    asked = stored.record["trial"]["browser"]
    # The option goes before the slow-down that the device has of its own.
    assert (asked["device"]["name"], asked["cpu_slowdown"]) == ("moto-g", 1)
    assert asked["color_scheme"] == "dark" and asked["javascript"] is False
    objects = stored.record["objects"]
    assert not [item for item in objects if item["resource_type"] == "Script"]
    for item in objects:
        assert bool(item["failed"]) == ("fonts-api.example" in item["url"]), item
    picture = next(iter(stored.frames())).picture
    height, width, _ = picture.shape
    assert height / width == pytest.approx(823 / 412, rel=0.02)


def test_what_is_not_known_is_refused_with_the_nearest_word() -> None:
    for option, word, said in (
        ("--device", "motog", "did you mean `moto-g`?"),
        ("--block", "https://ads.example/x", "write `ads.example`"),
    ):
        command = [*COMMAND, "load", "agency", option, word]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
        )
        assert done.returncode == 2 and said in done.stderr, done.stderr


def test_chromiums_own_logs_are_kept_beside_the_record(tmp_path: Path) -> None:
    options = ("--network", "fios", "--stack", "quic", "--netlog", "--trace")
    trial = load("synthetic:objects=2", *options, out=tmp_path)
    (stored,) = iterate_trials(trial["kept_in"])
    with gzip.open(stored.path / "netlog.json.gz") as stream:
        log = json.load(stream)
    kinds = {number: name for name, number in log["constants"]["logEventTypes"].items()}
    assert "QUIC_SESSION_PACKET_RECEIVED" in {kinds[each["type"]] for each in log["events"]}
    with gzip.open(stored.path / "trace.json.gz") as stream:
        names = {each["name"] for each in json.load(stream)["traceEvents"]}
    assert {"navigationStart", "firstContentfulPaint"} <= names
