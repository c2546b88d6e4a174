import numpy as np
import pytest
from repository import ROOT

from eyelevel.base.errors import TraceError
from eyelevel.cli.path.trace import read_trace
from eyelevel.load.traces import read_trace_file
from eyelevel.plan.traces.delay_rate import format_rates, parse_rates
from eyelevel.plan.traces.imported import import_traces
from eyelevel.plan.traces.info import trace_info
from eyelevel.plan.traces.mahimahi import format_mahimahi, mean_rate_bit_s, parse_mahimahi
from eyelevel.plan.traces.rates import opportunities_of, rates_of

SHARED = ROOT.parent / "shared/data/traces"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "t: the file is empty"),
        ("1\n\n2\n", "t:2: an empty line is not a whole number of milliseconds; remove it"),
        ("1\n2\n\n", "t:3: an empty line is not a whole number of milliseconds; remove it"),
        ("1\n2.5\n", "t:2: `2.5` is not a whole number of milliseconds"),
        ("1\n-2\n", "t:2: `-2` is not"),
        ("5\n3\n", "t:2: 3 comes after 5"),
        ("0\n0\n", "t:2: the trace has no duration"),
        ("99999999999\n", "t:1: 99999999999 ms is beyond 30 days"),
        ("²\n", "t:1: `²` is not"),
        ("\ufeff1\n2\n", "t:1: a byte order mark; save the file as UTF-8 without one"),
        ("9" * 5000, "t:1: 9999"),
    ],
)
def test_a_bad_trace_is_named_with_file_line_and_remedy(text, expected):
    with pytest.raises(TraceError) as caught:
        parse_mahimahi(text, "t")
    assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)


def test_more_lines_than_the_path_reads_are_refused(monkeypatch):
    monkeypatch.setattr("eyelevel.plan.traces.mahimahi.OPPORTUNITIES_MAX", 3)
    assert len(parse_mahimahi("1\n2\n3\n", "t")) == 3
    with pytest.raises(TraceError, match=r"^t: more than 3 lines; cut the recording$"):
        parse_mahimahi("1\n2\n3\n4\n", "t")


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
def test_a_plan_and_each_command_refuse_what_the_path_refuses(mark, tmp_path):
    file = tmp_path / "t.trace"
    file.write_text("1\n2\n", encoding=mark)
    for read in (
        lambda: read_trace_file(str(file)),
        lambda: read_trace(file),
        lambda: list(import_traces([("t.trace", file.read_bytes())], "out")),
    ):
        with pytest.raises((TraceError, ValueError), match="save the file as UTF-8"):
            read()


def test_a_trace_survives_writing():
    trace = parse_mahimahi("0\n0\n3\n10\n", "t")
    assert trace.tolist() == [0, 0, 3, 10]
    assert parse_mahimahi(format_mahimahi(trace), "t").tolist() == trace.tolist()


def test_the_mean_is_all_opportunities_over_the_last_millisecond():
    # Four times 12 000 bits in 10 ms.
    assert mean_rate_bit_s(parse_mahimahi("0\n0\n3\n10\n", "t")) == 4_800_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "c: no line with a time"),
        ("0,1\n1\n", "c:2: 1 cells, and the first row has 2"),
        ("0,1\n1,x\n", "c:2: `x` is not a number"),
        ("0,1\n0,2\n", "c:2: the same time as the row before; keep one row of each time"),
        ("0,-1\n", "c:1: a rate of -1 Mbit/s; leave the row out"),
        ("0,nan\n", "c:1: `nan` is not a number"),
        ("hours,mbps\n0,1\n", "c:1: no column with a time in `hours,mbps`"),
        ("time,parsecs\n0,1\n", "c:1: no column with a delay or a rate in `time,parsecs`"),
        ("# a comment\n\n0,1\n0,2\n", "c:4: the same time"),
        ("0," + "9" * 200_000, "c:1: no row of a table"),
    ],
)
def test_bad_rates_are_named_with_file_and_line(text, expected):
    with pytest.raises(TraceError) as caught:
        parse_rates(text, "c")
    assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)


def test_headings_say_units():
    series = parse_rates("time_ms;kbps\n0;1000\n500;3000\n", "c")
    assert series.at_ms.tolist() == [0, 500, 1000]
    assert series.mbit_s.tolist() == [1, 3]


def test_a_constant_rate_becomes_even_opportunities():
    # 12 Mbit/s are one packet of 1500 bytes a millisecond.
    trace = opportunities_of(parse_rates("0,12\n0.01,12\n", "c"), "c")
    assert trace.tolist() == list(range(1, 21))


def test_nothing_is_sent_while_the_rate_is_zero_and_the_length_is_kept():
    trace = opportunities_of(
        parse_rates("0,12\n0.01,0\n0.03,12\n0.04,0\n0.1,0\n0.12,0\n", "c"), "c"
    )
    assert trace.tolist() == [*range(1, 11), *range(31, 40), 140]


def test_no_opportunity_before_its_bytes_have_gathered():
    rates = np.random.default_rng(7).uniform(0, 30, 50)
    text = "\n".join(f"{i / 10},{rate}" for i, rate in enumerate(rates))
    series = parse_rates(text, "c")
    trace = opportunities_of(series, "c")
    gathered = np.interp(
        trace, series.at_ms, np.concatenate(([0], np.cumsum(np.diff(series.at_ms) * series.mbit_s)))
    )
    each = 12 * (1 + 1 / len(trace))  # spread evenly: up to half a packet over all of them
    assert np.all(np.arange(1, len(trace) + 1) * 12 <= gathered + each)
    assert mean_rate_bit_s(trace) == pytest.approx(rates.mean() * 1e6, rel=0.01)


def test_too_little_for_one_packet_is_refused():
    with pytest.raises(TraceError, match="less than one packet"):
        opportunities_of(parse_rates("0,0.001\n", "c"), "c")


def test_rates_of_a_trace_and_back():
    trace = opportunities_of(parse_rates("0,12\n1,24\n2,6\n3,6\n", "c"), "c")
    series = rates_of(trace, 1000)
    assert series.mbit_s.tolist() == pytest.approx([12, 24, 6, 6], rel=1e-3)
    again = opportunities_of(parse_rates(format_rates(series), "c"), "c")
    assert len(again) == len(trace) and again[-1] == trace[-1]


def test_outages_are_gaps_over_the_end_as_well():
    # Gaps of 1200 and 500, and 900 over the end: 100 + 800 from 2600 on.
    info = trace_info(parse_mahimahi("900\n2100\n2600\n", "t"), bin_ms=100)
    assert (info.outages, info.outage_ms_total, info.gap_ms_max) == (1, 1200, 1200)
    assert info.outage_share == pytest.approx(1200 / 2600)
    assert trace_info(parse_mahimahi("900\n2100\n2600\n", "t"), 100, 900).outages == 2


def test_percentiles_are_of_whole_bins():
    # 10, 20 and 30 packets in three seconds, and a rest of half a second.
    text = "".join(f"{t}\n" for t in [*[500] * 10, *[1500] * 20, *[2500] * 30, 3500])
    info = trace_info(parse_mahimahi(text, "t"))
    assert info.rate_bit_s_percentiles["p50"] == 240_000
    assert info.rate_bit_s_max == 360_000


@pytest.mark.parametrize(
    ("name", "mbit_s"),
    # What the README beside the traces says of them.
    [
        ("Verizon-LTE-short.down", 5.03),
        ("Verizon-LTE-short.up", 5.95),
        ("ATT-LTE-driving-2016.down", 4.56),
        ("ATT-LTE-driving-2016.up", 1.91),
        ("TMobile-UMTS-driving.down", 2.02),
        ("TMobile-UMTS-driving.up", 0.94),
    ],
)
def test_recorded_traces_have_their_known_means(name, mbit_s):
    file = SHARED / name
    if not file.exists():
        pytest.skip(f"{file} is absent: the recorded traces are not shipped")
    trace = parse_mahimahi(file.read_text(), str(file))
    assert mean_rate_bit_s(trace) / 1e6 == pytest.approx(mbit_s, abs=0.006)
