"""One series in the forms in which tools save it: the same numbers by each command, or refused."""

import random
import re
from itertools import product

import numpy as np
import pytest

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.cli.path.trace import read_trace, write_trace
from eyelevel.plan.traces.delay_rate import format_rates, parse_delay_rate, parse_rates
from eyelevel.plan.traces.imported import import_traces
from eyelevel.plan.traces.mahimahi import parse_mahimahi
from eyelevel.plan.traces.rates import opportunities_of, rates_of


def series(content: bytes):
    return parse_delay_rate(content, Source("f", TRACE, TraceError))


def imported(name: str, content: bytes):
    (found,) = import_traces([(name, content)], "out")
    return found


def refused(call) -> str:
    with pytest.raises(TraceError) as error:
        call()
    message = str(error.value)
    assert "\n" not in message and "; " in message
    return message


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";", "   ", " \t"])
@pytest.mark.parametrize("name", ["cooked", "cooked.csv", "cooked.txt"])
def test_seconds_and_rates_without_a_heading_are_read_by_each_command(separator, name, tmp_path):
    rows = [(0.0, 1.2), (0.5, 2.4), (1.0, 3.6), (1.5, 0.0), (2.0, 1.2)]
    text = "".join(f"{time}{separator}{rate}\n" for time, rate in rows)
    (tmp_path / name).write_text(text)
    trace = read_trace(tmp_path / name)
    # 4.2 Mbit in 2.5 s: 0.5 s each, the last as long as the one before.
    assert (len(trace), trace[-1]) == (350, 2500)
    found = imported(name, text.encode())
    assert found.stages == {"down": "trace out/cooked.down.trace"}
    (content,) = found.files.values()
    assert parse_mahimahi(content.decode(), name).tolist() == trace.tolist()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"0.0 1.2 3.4\n0.5 1 1\n", "a light recording; make traces of it with `eyelevel trace im"),
        (b"1,2,3\n", "begins no form that is known; known: "),
        (b"1.5\n2.5\n", "begins no form that is known; known: "),
        (b"time_s,down_mbps,up_mbps\n0,1,2\n", "rates of both directions; import it with"),
        (b"time_s,rtt_ms\n0,40\n", "no column with a rate; name it with its unit"),
        (b"time_s,MBps\n0,1\n", ":1: column `MBps`: the unit `MBps` is not known"),
        (b"time_min,mbps\n0,1\n", ":1: column `time_min`: the unit `min` is not known"),
        (b"0,1.234\n1;5\n", ":2: 1 cells, and the first row has 2"),
    ],
)
def test_info_and_convert_refuse_what_is_no_series_of_one_rate(content, said, tmp_path):
    file = tmp_path / "f"
    file.write_bytes(content)
    assert said in refused(lambda: read_trace(file))


@pytest.mark.parametrize(
    ("content", "down_mbit_s"),
    [
        (b"time_s;down_kbit_s\n0;10.500\n1;12.000\n2;1.250,5\n", [10.5, 12, 1.2505]),
        (b"time_s;down_kbit_s\n0;10.500\n0.5;12.000\n", [0.0105, 0.012]),
        ("time_s;down_kbps\n0;1 234\n1;1\u00a0300\n".encode(), [1.234, 1.3]),
        (b"time_s\tdown_kbps\n0\t1'234\n1\t1'234'567\n", [1.234, 1234.567]),
        (b'time_s,down_kbps\n0,"1,234,567"\n1,"234,567"\n', [1234.567, 234.567]),
        (b"time_s,name,kbps\n0,a 100,1 234\n1,b,300\n", [1.234, 0.3]),
        (b"0;1 234\n1;5\n", [1234, 5]),
        (b"1 000;7\n1 001;5\n", [7, 5]),
        (b"time_s,mbps\n0,10,\n1,20,\n", [10, 20]),
        (b"time_s,mbps\n0,10,\n1,20\n", [10, 20]),
        (b"time_s,mbps\n0,10\n1,20,\n", [10, 20]),
        (b"time_s,mbps\r0,10\r1,20\r", [10, 20]),
        (b"time_s,mbps\n0,10\n,\n1,20\n,\n", [10, 20]),
        (b"time_s;mbps;;\n0;10;;\n1;20;;\n;;;\n ; ;;\n", [10, 20]),
        ("time_s,mbps\n0,\u00a010\n1\u202f,20\u2009\n".encode(), [10, 20]),
    ],
)
def test_a_series_has_the_numbers_of_users_tables(content, down_mbit_s):
    assert series(content).down_mbit_s.tolist() == down_mbit_s


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"time_s;down_kbit_s\n0;10.500\n1;12.000\n", "f:2: `10.500` may be 10.500 or 10500; wri"),
        (b"time_s;down_kbps\n0;1.234\n1;1.300\n", "f:2: `1.234` may be 1.234 or 1234; write 1234"),
        (b'time_s,down_mbps\n0,"1,234"\n1,"1,300"\n', "f:2: `1,234` may be 1.234 or 1234; write"),
        (b"time_s,down_mbps\n0,1,234\n", "f:2: 3 cells, and the heading has 2; write as many in"),
        (b"time_s,down_mbps\n0,1\n1,2,3\n", "f:3: 3 cells, and the first row has 2"),
    ],
)
def test_a_series_refuses_the_numbers_that_users_tables_refuse(content, said):
    assert refused(lambda: series(content)).startswith(said)


@pytest.mark.parametrize("factor", [1000, 1_000_000])
@pytest.mark.parametrize(("before", "after"), [(4, 4), (9, 4), (9, 9), (4, 30)])
def test_a_unit_that_changes_within_a_series_is_named(factor, before, after):
    rng = random.Random(before * after)
    times = np.cumsum([rng.uniform(0.95, 1.05) / factor * 1000 for _ in range(before + after)])
    mixed = [*times[:before], *(factor * times[before:])]
    text = "time_s,mbps\n" + "".join(f"{at:.9f},1\n" for at in mixed)
    said = refused(lambda: series(text.encode()))
    assert said.startswith(f"f:{before + 2}: times are 1000 times as far apart from here on, as in")


@pytest.mark.parametrize(
    "times",
    [
        [0, 1, 2, 3, 2000, 3000, 4000],  # too few to tell
        [0, 1, 2, 3, 4, 4000, 4001, 4002, 4003],  # a gap
        [0, 1, 2, 3, 4, 400, 800, 1200, 1600],  # measured less often
        [10**n for n in range(7)],
        [0, 1, 2, 3, 4, 5000, 6000, 6001, 7000, 8000],
    ],
)
def test_steps_of_other_lengths_are_no_other_unit(times):
    text = "time_s,mbps\n" + "".join(f"{at},1\n" for at in times)
    assert series(text.encode()).at_ms[:-1].tolist() == [1000 * (at - times[0]) for at in times]


HEADINGS = [
    ("time_ms", "kbps", 1e-3, 1e-3),
    ("Time [s]", "rate (bit/s)", 1, 1e-6),
    ("t (us)", "Gbps", 1e-6, 1e3),
    ("timestamp_s", "down_Mbit/s", 1, 1),
    ("time", "throughput_mbps", 1, 1),
]


@pytest.mark.parametrize(("time", "rate", "second", "mbit_s"), HEADINGS)
@pytest.mark.parametrize("mark", ["#", "# ", "  ## ", "\ufeff# ", "# written by gnuplot\n\n# "])
def test_a_heading_in_a_comment_is_one(time, rate, second, mbit_s, mark):
    for apart, separator in product((",", ";", "\t", "  ", " "), ",;\t "):
        rows = f"0{separator}1\n1000{separator}2\n"
        read = series(f"{mark}{time}{apart}{rate}\n{rows}".encode())
        assert read.at_ms.tolist() == pytest.approx([0, 1e6 * second, 2e6 * second])
        assert read.down_mbit_s.tolist() == pytest.approx([mbit_s, 2 * mbit_s])


def test_a_heading_in_a_comment_is_read_and_refused_as_one():
    rtts = series(b"# time_s rtt_ms\n0 40\n1 50\n")
    assert rtts.delay_ms.tolist() == [20, 25] and rtts.down_mbit_s is None
    content = b"# time_s rtt_ms down_kbps\n0 40 1000\n1 50 2000\n"
    assert imported("ping", content).form == "delay and rate over time"
    said = refused(lambda: imported("f", b"\n# time_s MB/s\n0 1\n1 2\n"))
    assert said.startswith("f:2: column `MB/s`: the unit `MB/s` is not known")
    said = refused(lambda: series(b"# a\n# time_ms bytes\n0 1500\n1 1500\n"))
    assert said.startswith("f:2: no column with a delay or a rate in `time_ms bytes`")
    said = refused(lambda: series(b"# time_ms kbps\n0 1\nx 2\n"))
    assert said.startswith("f:3: `x` is not a number")


@pytest.mark.parametrize(
    "comment",
    [
        *("# ms kbit/s", "# epoch kbps", "# Time (s), Speed (kbit/s)", "# offset_ms, value"),
        *("# time_s latency_ms", "# time_s latency_s", "# Mbit/s s", "# unit: ms"),
        *("# made by us\n# ms kbit/s\n# of May", "# ms kbit/s\n\n#"),
    ],
)
@pytest.mark.parametrize("separator", [",", " "])
def test_units_in_a_comment_that_is_no_heading_are_not_lost(comment, separator):
    content = f"{comment}\n0{separator}1000\n500{separator}2000\n".encode()
    said = refused(lambda: imported("f", content))
    assert re.match(r"f:[12]: `#.*` has units, but not all names of columns are known; ", said)


@pytest.mark.parametrize("between", ["# of May\n", "\n#\n# a b\n"])
def test_a_heading_in_a_comment_may_be_above_other_comments(between):
    read = series(f"# time_ms kbit/s\n{between}0 1000\n500 2000\n".encode())
    assert (read.at_ms.tolist(), read.down_mbit_s.tolist()) == ([0, 500, 1000], [1, 2])


@pytest.mark.parametrize(
    "comment",
    [
        *(
            "# time",
            "# seconds Mbit/s",
            "# the time",
            "# of a train, in seconds",
            "# 1 2",
            "#",
            "# time series",
        ),
        *("# time_ms\rkbps, x", "# time_ms" + 4096 * " " + "kbps"),
    ],
)
def test_a_comment_that_is_no_heading_changes_nothing(comment):
    read = series(f"{comment}\n0 1\n1 2\n".encode())
    assert (read.at_ms.tolist(), read.down_mbit_s.tolist()) == ([0, 1000, 2000], [1, 2])


@pytest.mark.parametrize("heading", ["", "time_s,mbps\n"])
@pytest.mark.parametrize("blank", ["  ", "\t", " \t "])
def test_a_line_of_blanks_is_an_empty_line(heading, blank):
    for text in (f"0,1\n1,2\n{blank}\n", f"0,1\n{blank}\n1,2", f"0,1\n1,2\n{blank}"):
        assert series((heading + text).encode()).down_mbit_s.tolist() == [1, 2]


@pytest.mark.parametrize("blank", [" ", "\t", "\x0c", "\xa0"])
def test_a_blank_beside_an_opportunity_is_named(blank):
    for line in (f"2{blank}", f"{blank}2"):
        said = refused(lambda line=line: parse_mahimahi(f"1\n{line}\n3\n", "f"))
        assert said == "f:2: a blank beside `2`; remove it, each line is a whole number"


def test_line_ends_of_cr_alone_are_named():
    said = refused(lambda: parse_mahimahi("1\r2\r3\r", "f"))
    assert said == "f: its lines end in CR alone; save it with LF or CR LF"


def test_a_table_of_another_kind_keeps_its_own_units():
    """Without a time its columns are nobody's, whatever their units."""
    said = refused(lambda: imported("f", b"unit_id,dtime,bytes_sec\n1,2,3\n"))
    assert "begins no form that is known" in said


UNITS = {"mbit_s": 1.0, "Mbps": 1.0, "kbps": 1e3, "kbit/s": 1e3, "bit_s": 1e6, "Gbit/s": 1e-3}
TIMES = {"time_s": 1.0, "timestamp_s": 1.0, "t": 1.0, "Time (ms)": 1e3, "time_us": 1e6}


@pytest.mark.parametrize("seed", range(120))
def test_a_series_in_any_form_is_the_same_series(seed, tmp_path):
    rng = random.Random(seed)
    count = rng.randrange(2, 30)
    at_s = np.cumsum([rng.randrange(1, 3000) / 1000 for _ in range(count)])
    mbit_s = np.array([rng.choice([0.0, rng.randrange(1, 200_000) / 1000]) for _ in range(count)])
    mbit_s[0] = 12.0
    start = rng.choice([0, 0, 1_700_000_000])
    time, time_factor = rng.choice(list(TIMES.items()))
    unit, factor = rng.choice(list(UNITS.items()))
    way = rng.choice(["", "down_", "throughput_", "rate_"])
    separator = rng.choice([",", ";", "\t", " "])
    decimal = rng.choice([".", ","]) if separator in ";\t" else "."
    if separator == " ":
        time = time.replace(" (ms)", "_ms")
    rows = [f"{time}{separator}{way}{unit}"]
    for at, rate in zip(at_s, mbit_s, strict=True):
        cells = [f"{(start + at) * time_factor:.5f}", f"{rate * factor:.8f}"]
        rows.append(separator.join(cell.replace(".", decimal) for cell in cells))
    if separator == "," and rng.random() < 0.3:
        rows = [rows[0], *(row + "," * rng.choice([1, 1, 2]) for row in rows[1:])]
    end = rng.choice(["\n", "\r\n", "\r"])
    stated = separator != " " and rng.random() < 0.3
    text = end.join([f"sep={separator}"] * stated + ["# made"] * (seed % 2) + rows) + end
    content = text.encode(rng.choice(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"]))
    found = series(content)
    at_ms = (at_s - at_s[0]) * 1000
    assert found.at_ms == pytest.approx([*at_ms, 2 * at_ms[-1] - at_ms[-2]], abs=2e-3)
    assert found.down_mbit_s == pytest.approx(mbit_s, abs=1e-7)
    # The same file by `info` and `convert`, and by `import`, whatever it is called.
    file = tmp_path / rng.choice(["f", "f.csv", "f.txt"])
    file.write_bytes(content)
    trace = imported(file.name, content).files["f.down.trace"].decode()
    assert read_trace(file).tolist() == parse_mahimahi(trace, "f").tolist()


def test_seconds_since_1970_have_no_noise():
    content = b"timestamp_s,rtt_ms\n1693526400.000,40\n1693526400.010,60\n1693526400.020,50\n"
    assert series(content).at_ms.tolist() == [0, 10, 20, 30]


@pytest.mark.parametrize("lost", ["0", "-1", "", "nan", "0.0"])
def test_a_lost_ping_is_no_delay_and_the_remedy_works(lost):
    content = f"timestamp_s,rtt_ms\n0,40\n0.01,{lost}\n0.02,60\n"
    said = refused(lambda: imported("f", content.encode()))
    assert said.startswith("f:3: ") and "leave" in said
    without = content.replace(f"0.01,{lost}\n", "")
    (delays,) = imported("f", without.encode()).files.values()
    assert delays == b"20.000000\n30.000000\n"


def test_a_delay_of_one_way_may_be_0():
    assert series(b"time_s,owd_ms\n0,0\n1,5\n").delay_ms.tolist() == [0, 5]


HSDPA = (
    "1289406399 549 59.851077 10.780660 100000 1000\n"
    "1289406400 1549 59.851079 10.780660 200000 1000\n"
    "1289406401 2549 59.851081 10.780660 300000 1000\n"
)


@pytest.mark.parametrize(
    "log", [HSDPA, HSDPA.replace(" 59", " -59"), HSDPA.replace("99 ", "99000 ")]
)
def test_a_log_of_bytes_received_is_no_train_and_its_remedy_works(log, tmp_path):
    said = refused(lambda: imported("report.bus.log", log.encode()))
    assert "CellReplay" not in said and "is a line of an HSDPA or LTE log" in said
    # As it says: column 2 less column 6, and 8 times column 5 divided by column 6.
    assert "`time_ms,kbps`, then column 2 less column 6, and 8 times column 5 divided by" in said
    rows = [[float(cell) for cell in line.split()] for line in HSDPA.splitlines()]
    table = "time_ms,kbps\n" + "".join(f"{r[1] - r[5]},{8 * r[4] / r[5]}\n" for r in rows)
    trace = opportunities_of(parse_rates(table, "f"), "f")
    assert (len(trace) * 1500, trace[-1]) == (600_000, 3000)


def again(opportunities: np.ndarray, bin_ms: int, tmp_path) -> np.ndarray:
    """The trace through CSV, by the functions of `trace convert`."""
    write_trace(tmp_path / "series.csv", opportunities, bin_ms)
    back = read_trace(tmp_path / "series.csv")
    write_trace(tmp_path / "back.trace", back, bin_ms)
    return read_trace(tmp_path / "back.trace")


def test_a_burst_in_a_short_last_bin_is_no_longer_burst(tmp_path):
    trace = np.array([*range(1, 2001), *[2001] * 10])
    found = again(trace, 1000, tmp_path)
    assert (len(found), found[-1]) == (2010, 2001)
    # The burst stays where it was: ten packets in the last millisecond.
    assert np.count_nonzero(found > 2000) == 10


@pytest.mark.parametrize("seed", range(150))
def test_length_and_bytes_survive_csv_and_back(seed, tmp_path):
    rng = np.random.default_rng(seed)
    duration_ms = int(rng.integers(1, 5_000)) * int(rng.choice([1, 1, 7, 1000]))
    count = int(rng.integers(1, 3000))
    trace = np.sort(rng.integers(0, duration_ms + 1, count))
    trace[rng.integers(0, count) :] = duration_ms  # a burst at the end
    trace[-1] = duration_ms
    bin_ms = int(rng.choice([1, 3, 100, 333, 1000, 10_000, int(rng.integers(1, 20_000))]))
    if duration_ms / bin_ms > 200_000:
        bin_ms = 1000
    found = again(trace, bin_ms, tmp_path)
    assert (len(found), found[-1]) == (len(trace), trace[-1]), (duration_ms, count, bin_ms)
    # And it is no coarser than its bins: as many packets by each of their edges.
    edges = np.arange(bin_ms, duration_ms, bin_ms)
    before, behind = (np.searchsorted(each, edges, side="right") for each in (trace, found))
    assert np.abs(before - behind).max(initial=0) <= 1


@pytest.mark.parametrize("seed", range(40))
def test_a_series_with_uneven_pieces_keeps_its_length_and_bytes(seed):
    rng = np.random.default_rng(1000 + seed)
    at_s = np.round(np.cumsum(rng.uniform(0.001, 2, int(rng.integers(1, 40)))), 3)
    rates = np.round(rng.uniform(1, 100, len(at_s)), 3)
    text = "".join(f"{at},{rate}\n" for at, rate in zip(at_s, rates, strict=True))
    first = opportunities_of(parse_rates(text, "f"), "f")
    csv = format_rates(rates_of(first, 1000))
    second = opportunities_of(parse_rates(csv, "f"), "f")
    assert (len(second), second[-1]) == (len(first), first[-1])
    # Any reader of steps, whose last is as long as the one before, has the same bytes.
    rows = np.array([[float(cell) for cell in line.split(",")] for line in csv.splitlines()[1:]])
    lengths = np.diff(rows[:, 0])
    total_bits = np.sum(rows[:, 1] * np.append(lengths, lengths[-1])) * 1e6
    assert total_bits == pytest.approx(len(first) * 12_000, abs=1)


def test_digits_are_not_cut(tmp_path):
    """More than six of them, in a time and in a rate."""
    trace = np.append(np.arange(1, 1_234_568), 1_234_567)
    text = format_rates(rates_of(trace, 1000))
    # The last 567 ms: the second before is written in two.
    assert [line.partition(",")[0] for line in text.splitlines()[-2:]] == ["1233.433", "1234"]
    back = opportunities_of(parse_rates(text, "f"), "f")
    assert (len(back), back[-1]) == (len(trace), 1_234_567)
