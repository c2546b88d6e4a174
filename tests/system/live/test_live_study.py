"""A page and its replay in turns on a made Internet: what differs is told, and where it lies."""

import json
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import pytest
from emulated_internet import IMAGES, STATIC, URL, WWW, Internet, emulated_internet, needs_programs

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.paired import hodges_lehmann
from eyelevel.run.live.comparison import LIVE_SIDE, REPLAY_SIDE, SIDES
from eyelevel.run.live.trials import LIVE
from eyelevel.store.directory import list_committed, read_trial

pytestmark = [pytest.mark.full, pytest.mark.alone]

BLOCKS, BLOCKS_MIN = 9, 6
"""Of a study, and the fewest with an interval: loads that a busy machine starves do not count."""
OBJECTS = 2 + IMAGES
RTT_MS, OWN_RTT_MS, MORE_MS = 30.0, 20.0, 60.0
HANDSHAKES, ROUND_TRIPS = 2, 3
"""TCP's and TLS's; and what the page waits for of its second origin: these, and style and pictures
at once (`asked_at_once` holds that)."""
NEAR_MS = 12.0
"""What the machine may put on a handshake of one side: less than half a round trip, a fifth of what
is told from it."""
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


def handshakes_bias(out: Path, host: str) -> Estimate:
    """Replay - live of opening a connection to the host, within blocks, ms."""
    took_ms: dict[str, dict[int, float]] = {side: {} for side in SIDES}
    for name in list_committed(out):
        record = read_trial(out, name).record
        spans = [
            item["connect_ms"][1] - item["connect_ms"][0]
            for item in record["objects"]
            if urlsplit(item["url"]).hostname == host and item["connect_ms"] is not None
        ]
        side = LIVE_SIDE if record["trial"]["network"] == LIVE.name else REPLAY_SIDE
        took_ms[side][record["trial"]["repetition"]] = median(spans)
    live, replay = (took_ms[side] for side in SIDES)
    assert sorted(live) == sorted(replay) == list(range(1, BLOCKS + 1))
    blocks = sorted(live)
    return hodges_lehmann([replay[n] for n in blocks], [live[n] for n in blocks])


def asked_at_once(out: Path, host: str) -> bool:
    """Whether in every load all that comes of the host was sent for before its first answer."""
    for name in list_committed(out):
        theirs = [
            item
            for item in read_trial(out, name).record["objects"]
            if urlsplit(item["url"]).hostname == host
        ]
        if max(item["sent_ms"] for item in theirs) > min(item["response_ms"] for item in theirs):
            return False
    return True


def holds(bias: Estimate, truth_ms: float, near_ms: float = NEAR_MS) -> bool:
    """Whether the truth is within the interval, or as near to it as a busy machine may bring it."""
    assert bias.low is not None and bias.high is not None
    return bias.low - near_ms <= truth_ms <= bias.high + near_ms


def test_an_origin_that_is_farther_than_recorded_is_a_bias_and_is_named(
    labs: None, tmp_path: Path
) -> None:
    needs_programs()
    tmp_path.chmod(0o755)
    own = {STATIC: OWN_RTT_MS}
    with emulated_internet(tmp_path, RTT_MS, own) as internet:
        same, said = study(internet, tmp_path / "same", "--blocks", "2")
        assert "load 4 of 4" in said
        # What is there is not done again; what is not, is.
        more, said = study(internet, tmp_path / "same", "--blocks", str(BLOCKS))
        assert f"load 5 of {2 * BLOCKS}" in said and f"load 4 of {2 * BLOCKS}" not in said
    assert same["verdict"].endswith(" too few for a 95% interval")
    assert BLOCKS_MIN <= more["blocks_compared"] <= BLOCKS
    for side in SIDES:
        (seen,) = more["protocols"][side].items()
        assert seen[0] == "h2" and seen[1] >= OBJECTS * more["blocks_compared"]
    for host in (WWW, STATIC):
        # The recorded round trips are on the replays' path: no bias where none was put.
        bias = handshakes_bias(tmp_path / "same", host)
        assert holds(bias, 0.0), (host, bias)
    assert connects_ms(more, STATIC)[1] > connects_ms(more, WWW)[1]
    recording = str(tmp_path / "same" / "recording.wacz")
    with emulated_internet(tmp_path, RTT_MS, {STATIC: OWN_RTT_MS + MORE_MS}) as internet:
        words = ("--against", recording, "--blocks", str(BLOCKS))
        farther, _ = study(internet, tmp_path / "farther", *words)
    assert farther["verdict"].startswith("replays are faster than the page")
    bias = farther["metrics"]["page_load_time_ms"]["bias"]
    assert bias["high"] < 0 and farther["blocks_compared"] >= BLOCKS_MIN
    assert asked_at_once(tmp_path / "farther", STATIC)
    compared = farther["blocks_compared"]
    page = Estimate(bias["value"], bias["low"], bias["high"], bias["p"], n=compared)
    assert holds(page, -ROUND_TRIPS * MORE_MS, ROUND_TRIPS * NEAR_MS), page
    own = handshakes_bias(tmp_path / "farther", STATIC)
    assert holds(own, -HANDSHAKES * MORE_MS) and not holds(own, 0.0), own
    others = handshakes_bias(tmp_path / "farther", WWW)
    assert holds(others, 0.0), others
    for name in ("live.json", "live.csv", "live.svg"):
        assert (tmp_path / "farther" / name).stat().st_size


def test_replays_have_the_network_that_words_say(labs: None, tmp_path: Path) -> None:
    needs_programs()
    tmp_path.chmod(0o755)
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n")
    words = ("--rtt", "90ms", "--trace-down", str(trace), "--up", "rate 5 Mbit/s")
    with emulated_internet(tmp_path, RTT_MS, {}) as internet:
        found, _ = study(internet, tmp_path / "words", "--blocks", "1", "--no-recorded-rtt", *words)
    assert found["network"]["name"] == "rtt 90ms + trace-down link.trace + up rate 5 Mbit/s"
    assert found["network"]["rate_down_bit_s"] == 12_000_000
    assert found["blocks_compared"] == 1
    # TCP's and TLS's handshakes: 60 ms on the made Internet against 180, of which a request that
    # waits for a connection begun before it sees a part.
    live_ms, replay_ms = connects_ms(found, WWW)
    assert replay_ms > 150 > live_ms
