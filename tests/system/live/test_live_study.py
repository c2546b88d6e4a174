"""A page and its replay in turns on a made Internet: what differs is told, and where it lies."""

import json
from pathlib import Path
from typing import Any

import pytest
from made_internet import STATIC, URL, WWW, Internet, made_internet, needs_programs

pytestmark = pytest.mark.alone

BLOCKS = 6
RTT_MS, OWN_RTT_MS, MORE_MS = 30.0, 20.0, 60.0
STUDY_TIMEOUT_S = 280.0


def study(internet: Internet, out: Path, *words: str) -> tuple[Any, str]:
    """The study's JSON, and what it said of its progress."""
    trust = ("--upstream-ca", str(internet.authority), "--no-capture", "--json")
    command = ("validate", "live", URL, "--out", str(out), *trust, *words)
    done = internet.eyelevel(*command, timeout_s=STUDY_TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def connects_ms(found: Any, host: str) -> tuple[float, float]:
    """Medians of opening a connection, live and replayed."""
    (origin,) = [each for each in found["origins"] if each["host"] == host]
    return origin["live"]["connect_ms"], origin["replay"]["connect_ms"]


def test_an_origin_that_is_farther_than_recorded_is_a_bias_and_is_named(
    labs: None, tmp_path: Path
) -> None:
    needs_programs()
    tmp_path.chmod(0o755)
    own = {STATIC: OWN_RTT_MS}
    with made_internet(tmp_path, RTT_MS, own) as internet:
        same, said = study(internet, tmp_path / "same", "--blocks", "2")
        assert "load 4 of 4" in said
        # What is there is not done again; what is not, is.
        more, said = study(internet, tmp_path / "same", "--blocks", "3")
        assert "load 5 of 6" in said and "load 4 of 6" not in said
    assert same["verdict"].endswith("2 blocks are too few for a 95% interval")
    assert more["blocks_compared"] == 3
    assert more["protocols"] == {"live": {"h2": 18}, "replay": {"h2": 18}}
    for host in (WWW, STATIC):
        live_ms, replay_ms = connects_ms(more, host)
        # Handshakes of TCP and TLS: the recorded round trips are on the replays' path.
        assert abs(live_ms - replay_ms) < MORE_MS
    assert connects_ms(more, STATIC)[1] > connects_ms(more, WWW)[1]
    recording = str(tmp_path / "same" / "recording.wacz")
    with made_internet(tmp_path, RTT_MS, {STATIC: OWN_RTT_MS + MORE_MS}) as internet:
        words = ("--against", recording, "--blocks", str(BLOCKS))
        farther, _ = study(internet, tmp_path / "farther", *words)
    assert farther["verdict"].startswith("replays are faster than the page")
    bias = farther["metrics"]["page_load_time_ms"]["bias"]
    assert bias["high"] < 0 and farther["blocks_compared"] == BLOCKS
    live_ms, replay_ms = connects_ms(farther, STATIC)
    assert live_ms - replay_ms > MORE_MS
    live_ms, replay_ms = connects_ms(farther, WWW)
    assert abs(live_ms - replay_ms) < MORE_MS
    for name in ("live.json", "live.csv", "live.svg"):
        assert (tmp_path / "farther" / name).stat().st_size


def test_replays_have_the_network_that_words_say(labs: None, tmp_path: Path) -> None:
    needs_programs()
    tmp_path.chmod(0o755)
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n")
    words = ("--rtt", "90ms", "--trace-down", str(trace), "--up", "rate 5 Mbit/s")
    with made_internet(tmp_path, RTT_MS, {}) as internet:
        found, _ = study(internet, tmp_path / "words", "--blocks", "1", "--no-recorded-rtt", *words)
    assert found["network"]["name"] == "rtt 90ms + trace-down link.trace + up rate 5 Mbit/s"
    assert found["network"]["rate_down_bit_s"] == 12_000_000
    assert found["blocks_compared"] == 1
    # TCP's and TLS's handshakes: 60 ms on the made Internet against 180, of which a request that
    # waits for a connection begun before it sees a part.
    live_ms, replay_ms = connects_ms(found, WWW)
    assert replay_ms > 150 > live_ms
