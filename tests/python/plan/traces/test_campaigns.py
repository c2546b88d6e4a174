"""Tables of FCC and MONROE: a recording a unit, what is not whole left out and said."""

import numpy as np
import pytest
from bad_samples import FCC, MONROE

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.plan.traces.imported import UNITS_MAX, import_traces, parse_fcc, parse_monroe
from eyelevel.plan.traces.info import trace_info
from eyelevel.plan.traces.mahimahi import parse_mahimahi, whole_lines
from eyelevel.plan.traces.rates import RateSeries, opportunities_of, text_bytes

SOURCE = Source("f", TRACE, TraceError)


def imported(text: str):
    return list(import_traces([("f.csv", text.encode())], "out"))


def test_a_unit_of_fcc_has_its_tests_in_their_order_of_time():
    first, second = parse_fcc(FCC, SOURCE)
    assert (first.unit, second.unit) == ("386", "400")
    # 0.75, 1.5 and 3 million bytes a second, five seconds each.
    assert first.series.mbit_s.tolist() == [6, 12, 24]
    assert first.series.at_ms.tolist() == [0, 5000, 10_000, 15_000]
    assert first.description == "2 whole tests one behind the other, a rate each 5 s, as TCP had it"
    assert second.description.startswith("1 whole test, a rate each 5 s")


def test_it_is_written_as_a_trace_for_either_direction():
    first, _ = imported(FCC)
    assert first.form == "FCC's throughput tests"
    assert first.stages == {"either": "trace out/f-386.trace"}
    trace = parse_mahimahi(first.files["f-386.trace"].decode(), "f")
    info = trace_info(trace, 5000)
    assert (info.duration_ms, info.rate_bit_s_mean) == (15_000, 14_000_000)
    assert np.searchsorted(trace, 5000, side="right") == 6e6 * 5 / 12_000


def test_what_failed_or_is_not_whole_is_left_out_and_counted():
    more = (
        "386,2015-01-04 01:00:00,a.example,x,5,7,9,1,1,2,1,3,1,0,9\n"
        "386,2015-01-05 01:00:00,a.example,x,5,7,9,1,1,2,0,3,0,1,9\n"
    )
    first = next(parse_fcc(FCC + more, SOURCE))
    assert first.series.mbit_s.tolist() == [6, 12, 24]
    assert first.description.endswith(
        "; left out: 1 that lacks an interval; in the file 1 failed interval"
    )


@pytest.mark.parametrize("count", ["0", "0.0"])
def test_an_interval_without_success_has_no_rate(count):
    failed = f"386,2015-01-05 01:00:00,a.example,x,5,7,9,1,1,2,0,3,{count},1,9\n"
    first = next(parse_fcc(FCC + failed, SOURCE))
    assert first.description.endswith("; in the file 1 failed interval")


@pytest.mark.parametrize(("text", "parse"), [(FCC, parse_fcc), (MONROE, parse_monroe)])
def test_a_row_that_stands_twice_counts_once(text, parse):
    once, twice = (list(parse(each, SOURCE)) for each in (text, text + text.partition("\n")[2]))
    for found, other in zip(once, twice, strict=True):
        assert found.series.at_ms.tolist() == other.series.at_ms.tolist()


@pytest.mark.parametrize("word", ["", "null", "NaN", "NA"])
def test_a_ping_without_an_answer_is_counted(word):
    (found,) = parse_monroe(MONROE.replace("None", word), SOURCE)
    assert found.description == "3 answers, at most 2 s apart, 1 ping without one"


def test_a_node_of_monroe_has_half_of_each_round_trip_by_time():
    lines = MONROE.splitlines()
    shuffled = "\n".join([lines[0], *reversed(lines[1:])])
    for text in (MONROE, shuffled):
        (found,) = parse_monroe(text, SOURCE)
        assert found.unit == "48-89"
        assert found.series.at_ms.tolist() == [0, 1000, 3000, 5000]
        assert found.series.delay_ms.tolist() == [20.25, 30, 40]
        assert found.description == "3 answers, at most 2 s apart, 1 ping without one"
    (written,) = imported(MONROE)
    assert written.form == "MONROE's pings, delay over time"
    assert written.stages["down"] == "jitter recorded out/f-48-89.delays 2500ms"
    assert "half of each round trip" in written.description


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            FCC.replace(",3000000,", ",fast,"),
            "f.csv:3: bytes_sec_interval is `fast`, which is not a number",
        ),
        (FCC.replace(",1500000,", ",-1,"), "f.csv:2: bytes_sec_interval is `-1`"),
        (FCC.replace(",9\n400", "\n400"), "f.csv:3: 14 cells, and the heading has 15"),
        (FCC.replace("address", "dtime"), "f.csv:1: two columns of one name"),
        (
            FCC.splitlines()[0] + "\n7,2015-01-01 0:00,t,a,5,7,9,1,1,2,3,3,1,0,9\n",
            "unit 7 has no whole test",
        ),
        (
            FCC.replace("2015-01-03", "9/1/2015"),
            "f.csv:4: dtime is `9/1/2015 01:00:00`, which does",
        ),
        (FCC.replace("1,0,9\n400", ",0,9\n400"), "f.csv:3: successes is ``, which is not a number"),
        (
            FCC + FCC.splitlines()[1].replace("1500000", "1") + "\n",
            "f.csv:6: interval 0 of its test has another value in an earlier row; keep the rows",
        ),
        (
            MONROE.replace("1463048695.5", "1463048694.5"),
            "f.csv:3: its timestamp has another value in an earlier row; keep the rows",
        ),
        (MONROE.replace("1463048695.5", "soon"), "f.csv:3: timestamp is `soon`"),
        (
            MONROE.replace(",60\n", ",9e9\n"),
            "f.csv:3: rtt is `9e9`, which is not a number from 0 to 120000",
        ),
        (
            MONROE.replace(",60\n", ",0\n"),
            "f.csv:3: a round trip of 0, so none was measured; leave",
        ),
        (MONROE.replace("48,89,1463048694.5", "1,2,3"), "f.csv: node 1-2 has fewer than two"),
    ],
)
def test_a_mistake_has_its_line_and_a_remedy(text, said):
    with pytest.raises(TraceError) as error:
        imported(text)
    assert str(error.value).startswith(said) or said in str(error.value)
    assert "\n" not in str(error.value) and "; " in str(error.value)


HEADING, FIRST, *_ = FCC.splitlines()


@pytest.mark.parametrize(
    ("units", "bytes_s", "said"),
    [
        # 25 million opportunities in 5 s, on lines of 4.78 bytes in the mean.
        (5, 7.5e9, "f.csv: its 5 units come to 597 MB of traces, more than 512 MB; keep the rows"),
        (1, 15.1e9, "f.csv, unit 1000: 50333333 opportunities, more than 50000000; shorten it"),
    ],
)
def test_what_would_fill_the_disk_is_refused_before_anything_is_made(
    units, bytes_s, said, monkeypatch
):
    def made(*_):
        raise AssertionError("made in vain")

    monkeypatch.setattr("eyelevel.plan.traces.imported.opportunities_of", made)
    row = FIRST.replace("1500000", f"{bytes_s:.0f}")
    rows = [row.replace("386", str(1000 + unit)) for unit in range(units)]
    with pytest.raises(TraceError) as error:
        imported("\n".join([HEADING, *rows]))
    assert str(error.value).startswith(said) and "\n" not in str(error.value)


def test_a_series_whose_trace_no_plan_could_read_is_refused_with_its_size():
    """23 days: 30 million lines of eleven bytes; a plan reads 256 MB."""
    with pytest.raises(TraceError, match=r"^f.csv: its trace would have 313 MB, more than 256 MB"):
        imported("time_s,mbps\n0,0.18\n1000000,0.18\n")


@pytest.mark.parametrize("mbit_s", [[12, 0, 24, 1], [0, 0, 0, 120], [40, 0, 0, 0]])
def test_the_bytes_of_a_trace_are_known_without_it(mbit_s):
    series = RateSeries(np.array([3, 10, 93, 903, 12_003.0]), np.array(mbit_s, np.float64))
    text = whole_lines(opportunities_of(series, "s"))
    assert text_bytes(series, "s") == pytest.approx(len(text), abs=8)


def test_a_whole_countrys_units_are_refused():
    heading, row = FCC.splitlines()[:2]
    rows = [row.replace("386", str(unit)) for unit in range(1000, 1001 + UNITS_MAX)]
    with pytest.raises(TraceError, match=r"f:102: more than 100 units; keep the rows of"):
        list(parse_fcc("\n".join([heading, *rows]), SOURCE))
