import numpy as np
import pytest
from repository import ROOT

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.plan.traces.delay_rate import parse_delay_rate
from eyelevel.plan.traces.imported import import_traces, parse_light
from eyelevel.plan.traces.mahimahi import mean_rate_bit_s, parse_mahimahi

SHARED = ROOT.parent / "shared/data/traces"
LIGHT = b"0 20 0 0 1.5\n500 25.5 0 1\n1000 20 0\n"


def imported(*contents: bytes):
    return list(import_traces([(f"f/{n}", each) for n, each in enumerate(contents)], "out"))


def source() -> Source:
    return Source("f", TRACE, TraceError)


def test_each_form_is_told_by_its_content():
    found = imported(b"0\n5\n", LIGHT, b"3\r\n9\r\n", b"# c\nRTT_ms;time_s\n10;0\n20;1\n")
    assert [each.form for each in found] == [
        "packet-delivery trace",
        "CellReplay's two parts",
        "delay over time",
    ]
    assert [each.stages for each in found] == [
        {"either": "trace out/0.trace"},
        {"either": "cell out/1.light out/2.trace opportunity 1396B"},
        {
            "down": "jitter recorded out/3.delays 1000ms",
            "up": "jitter recorded out/3.delays 1000ms",
        },
    ]
    assert found[0].files == {"0.trace": b"0\n5\n"}
    assert found[1].files == {"1.light": LIGHT, "2.trace": b"3\r\n9\r\n"}
    assert found[2].files == {"3.delays": b"5.000000\n10.000000\n"}


def test_cellreplays_opportunities_carry_its_own_packets():
    # Each millisecond one of its packets, 1400 bytes with TUN's 4: 11.168 Mbit/s of IP, not 12.
    heavy = "".join(f"{at}\n" for at in range(1, 1001)).encode()
    (found,) = imported(LIGHT, heavy)
    assert "11.2 Mbit/s in the mean of 1396 bytes an opportunity" in found.description


def test_names_become_words_of_a_stage():
    (found,) = import_traces([("a b/.my, link.CSV", b"time_s,mbps\n0,12\n")], "out")
    assert found.stages == {"down": "trace out/my--link.down.trace"}


def test_rates_of_both_directions_and_half_of_each_round_trip():
    (found,) = imported(b"t,up_mbps,sat,rtt_ms,,down_kbps\n7,12,a,40,,24000\n8,0,b,60,1,12000\n")
    assert found.stages == {
        "down": "jitter recorded out/0.delays 1000ms, trace out/0.down.trace",
        "up": "trace out/0.up.trace, jitter recorded out/0.delays 1000ms",
    }
    assert found.files["0.delays"] == b"20.000000\n30.000000\n"
    down, up = (
        parse_mahimahi(found.files[f"0.{way}.trace"].decode(), "") for way in ("down", "up")
    )
    assert mean_rate_bit_s(down) == 18_000_000 and mean_rate_bit_s(up) == 6_000_000
    assert up[-2] < 1000 and down[-1] == up[-1] == 2000
    assert (
        "passed over: sat;" in found.description and "half of each round trip" in found.description
    )


def test_a_delay_of_one_way_is_of_the_way_down_alone():
    (found,) = imported(b"time_ms,delay_ms\n0,40\n10,50\n")
    assert found.stages == {"down": "jitter recorded out/0.delays 10ms"}
    assert found.files["0.delays"] == b"40.000000\n50.000000\n"


def test_uneven_times_become_even_steps_of_the_same_length():
    series = parse_delay_rate(b"time_s,delay_ms\n0,1\n1,2\n2,3\n3,4\n6,5\n", source())
    interval_ms, delay_ms = series.delay_steps("f")
    assert interval_ms * len(delay_ms) == series.at_ms[-1] == 9000
    assert delay_ms.tolist() == [1, 2, 3, 4, 4, 4, 5, 5, 5]


def test_a_step_has_the_value_measured_just_at_its_middle():
    series = parse_delay_rate(b"time_s,delay_ms\n0,1\n1,2\n3,3\n5,4\n7.5,5\n", source())
    interval_ms, delay_ms = series.delay_steps("f")
    # Their middles are 1, 3, 5, 7 and 9 s; at the first three of them something was measured.
    assert interval_ms == 2000
    assert delay_ms.tolist() == [2, 3, 4, 4, 5]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "f/0: the file is empty; known: packet-delivery"),
        (b"\n# a\n", "f/0: no row in its first 64 kB; known: packet-delivery"),
        (b"{}\n", "f/0:1: `{}` begins no form"),
        (b"1,2,3\n", "f/0:1: `1,2,3` begins no form"),
        (b"hours,mbps\n0,1\n", "f/0:1: no column with a time in `hours,mbps`"),
        (b"1\n\xff\n", "f/0:2: not UTF-8"),
        (b"# c\nh\xe9ures,mbps\n", "f/0:2: not UTF-8 (byte 0xe9); save the file as UTF-8"),
        (b"time_s,rate\n0,1\n", "f/0:1: no column with a delay or a rate in `time_s,rate`"),
        (b"1\n2.5\n", "f/0:2: `2.5` is not a whole number"),
        (LIGHT, "f/0: a light recording without its saturated one"),
        (b"time_s,mbps\n", "f/0:1: no line with a time"),
        (b"time_s,mbps\n0\n", "f/0:2: 1 cells, and the heading has 2"),
        (b"time_s,mbps\n0,1\n1\n", "f/0:3: 1 cells, and the first row has 2"),
        (b"time_s,mbps\n0,1,1\n", "f/0:2: 3 cells, and the heading has 2"),
        (b"time_s,mbps\n0,1\n1,x\n", "f/0:3: `x` is not a number"),
        (b"time_s,mbps\n\n# c\n0,1\n1,\n", "f/0:5: `` is not a number"),
        (b"time_s,mbps\n0,nan\n", "f/0:2: `nan` is not a number"),
        (b"time_s\tmbps\n0\t1 2\n1\t\n", "f/0:2: `1 2` is not a number"),
        (b"time_s\tmbps\n0\t1,2,3\n1\t\n", "f/0:2: `1,2,3` is not a number"),
        (b"time_s,mbps\n0,1\n0,1\n", "f/0:3: the same time as the row before"),
        (b"time_s,mbps\n1,1\n0,1\n", "f/0:3: earlier than the row before; sort them"),
        (
            b"time_s,mbps\n01.05.2024 10:00,1\n",
            "f/0:2: `01.05.2024 10:00` is not a number; write times",
        ),
        (
            b"time_s,mbps\n5/1/2024 10:00,1\n",
            "f/0:2: `5/1/2024 10:00` is not a number; write times",
        ),
        (b"time_s,mbps\n0,10.0.10.1\n", "f/0:2: `10.0.10.1` is not a number; write a number"),
        (b"time_s,mbps\n0,1\n1e9,1\n", "f/0:3: a time beyond 30 days"),
        (b"time_s,mbps\n0,-1\n", "f/0:2: a rate of -1 Mbit/s; leave the row out"),
        (b"time_s,rtt_s\n0,1000\n", "f/0:2: a value outside of 0 to 60000 ms, one way"),
        (b"time_s,rtt_s,rtt_ms\n0,1,1\n", "f/0:1: columns `rtt_s` and `rtt_ms` for one thing"),
        (b"mbps,time_s\n8,99999999999\n8,99999999999.000001\n", "f/0:3: the same time"),
        (b"time,mbps\n1693526400000,1\n1693526401000,1\n", "f/0:2: a time of 1693526400000, th"),
        (b"0,1\n1693526400000,1\n", "f/0:2: a time of 1693526400000, thousands of years"),
        (b"time_ms,mbps\n1693526400000000,1\n", "f/0:2: a time of 1693526400000000, thousands"),
        (b"time_s,mbps\n0,0\n", "f/0: all of it carries less than one packet"),
        (b"time_s,rtt_ms\n0,1\n1e-9,1\n2000000,1\n2000000.000000001,1\n", "f/0: 2"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(content, expected):
    with pytest.raises(TraceError) as caught:
        imported(content)
    assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)


@pytest.mark.parametrize("heading", ["time_ms", "time_s", "timestamp_us", "t"])
def test_times_since_1970_are_of_the_unit_that_their_heading_names(heading):
    scale = {"time_ms": 10**3, "timestamp_us": 10**6}.get(heading, 1)
    rows = "".join(f"{1693526400 * scale + n * scale},12\n" for n in range(3))
    (found,) = imported(f"{heading},mbps\n{rows}".encode())
    assert found.description.startswith("3 s;")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"0 20\n", "f:1: a train of no packets"),
        (b"0 20 0\n500 20  0\n", "f:2: `500 20 0` is no train"),
        (b"0 20 0\n\n500 20 0\n", "f:2: `` is no train"),
        (b"0 20 0\n500 20 -1\n", "f:2: `500 20 -1` is no train"),
        (b"0 20 0\n500 20 1.2.3\n", "f:2: `500 20 1.2.3` is no train"),
        (b"0 20 0\n500 20\n", "f:2: a train of no packets"),
        (b"0 20 0\n1 1" + b" 1" * 10_001 + b"\n", "f:2: a train of no packets, or of over 10000"),
        (b"0 20 0\n0 20 0\n", "f:2: the train is not later"),
        (b"0 20 0\n1 20 0 3 2\n", "f:2: its packets do not come one after the other"),
        (b"0 20 0\n1 70000 0\n", "f:2: a train beyond 30 days, or a delay beyond 60 s"),
        (b"0 20 0\n1 20 49223372036854776000\n", "f:2: a train beyond 30 days"),
        (b"0 20 0\n0.0000004 20 0\n", "f:2: the train is not later"),
        (b"0 20 0\n", "f:1: a light recording of one train"),
    ],
)
def test_a_light_recording_is_refused_as_its_stage_does(content, expected):
    with pytest.raises(TraceError) as caught:
        parse_light(content, source())
    assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)


def test_trains_are_read():
    light = parse_light(LIGHT, source())
    assert light.at_ms.tolist() == [0, 500, 1000] and light.delay_ms.tolist() == [20, 25.5, 20]
    assert light.packets.tolist() == [3, 2, 1]


def test_pieces_meet_without_a_row_lost(monkeypatch):
    rows = "".join(f'{at},"{at % 7}",x\n' for at in range(1000))
    content = f"time_s,mbps,y\n{rows}".encode()
    whole = parse_delay_rate(content, source())
    monkeypatch.setattr("eyelevel.base.from_outside.number_columns._PIECE", 50)
    pieces = parse_delay_rate(content, source())
    assert np.array_equal(whole.down_mbit_s, np.arange(1000) % 7)
    assert np.array_equal(pieces.down_mbit_s, whole.down_mbit_s)
    assert np.array_equal(pieces.at_ms, np.arange(1001) * 1000)
    with pytest.raises(TraceError, match=r"^f:902: `z` is not a number"):
        parse_delay_rate(content.replace(b'900,"4"', b"900,z"), source())


def test_trains_of_pieces_are_as_of_the_whole(monkeypatch):
    content = "".join(f"{3 * at} {at % 50}.5{' 7' * (1 + at % 9)}\n" for at in range(500)).encode()
    whole = parse_light(content, source())
    monkeypatch.setattr("eyelevel.base.from_outside.number_columns._PIECE", 90)
    pieces = parse_light(content, source())
    assert whole.packets.tolist() == [1 + at % 9 for at in range(500)]
    for name in ("at_ms", "delay_ms", "packets"):
        assert np.array_equal(getattr(pieces, name), getattr(whole, name))
    for wrong, fault in (
        (b"1200 0.5 7 7 7 7 6", "f:401: its packets do not come"),
        (b"1200 0.5  7 7 7 7 7", "f:401: `1200 0.5 7 7 7 7 7` is no train"),
        (b"1197 0.5 7 7 7 7 7", "f:401: the train is not later"),
    ):
        with pytest.raises(TraceError, match=fault):
            parse_light(content.replace(b"1200 0.5 7 7 7 7 7", wrong), source())


def test_a_gap_of_a_series_is_said():
    (found,) = imported(b"time_s,mbps\n0,1\n1,2\n3600,1\n")
    assert "rows at most 3599 s apart" in found.description


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not here")
def test_recorded_traces_are_kept_byte_by_byte():
    files = sorted(SHARED.iterdir())
    found = list(import_traces([(str(file), file.read_bytes()) for file in files], "out"))
    assert len(found) == len(files)
    for file, each in zip(files, found, strict=True):
        assert list(each.files.values()) == [file.read_bytes()]
    assert (
        "140 s, 5.03 Mbit/s" in found[4].description
        and "140 s, 5.95 Mbit/s" in found[5].description
    )
