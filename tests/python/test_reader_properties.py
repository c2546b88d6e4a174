"""Properties of readers over generated input: the right value or one clear refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelevel.base.errors import ExpectedError, NetworkError, TraceError
from eyelevel.base.from_outside.cell_numbers import style_of
from eyelevel.base.from_outside.host_lists import LeftOut, parse_host, read_hosts
from eyelevel.base.from_outside.limits import TARGETS, TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.plan.networks.from_csv import networks_from_csv
from eyelevel.plan.traces.delay_rate import format_rates, parse_delay_rate, parse_rates
from eyelevel.plan.traces.mahimahi import OPPORTUNITY_BITS, format_mahimahi, parse_mahimahi
from eyelevel.plan.traces.rates import RateSeries, opportunities_of, rates_of

SOURCE = Source("f", TRACE, TraceError)

STYLES = [
    (",", ".", ""), (",", ".", "'"), (",", ".", " "),
    (";", ",", ""), (";", ",", "."), (";", ",", " "), (";", ".", ""), (";", ".", "'"),
    ("\t", ".", ""), ("\t", ".", ","), ("\t", ",", ""), ("\t", ",", "."),
]  # fmt: skip
"""Separators of cells, decimal signs and separators of thousands that programs write together."""


def written(thousandths, decimal, thousands):
    """Return a number of thousandths as its country and program write it."""
    whole, rest = divmod(thousandths, 1000)
    text = f"{whole:,}".replace(",", thousands)
    fraction = f"{rest:03d}".rstrip("0")
    return text + (decimal + fraction if fraction else "")


@given(st.sampled_from(STYLES), st.lists(st.integers(0, 10**10), min_size=1, max_size=6))
def test_a_number_in_a_cell_is_what_was_written_or_refused(style, numbers):
    separator, decimal, thousands = style
    texts = [written(number, decimal, thousands) for number in numbers]
    found = style_of(separator, [(str(line), text) for line, text in enumerate(texts, 2)])
    for number, text in zip(numbers, texts, strict=True):
        try:
            value = found.read(text, "2", SOURCE)
        except TraceError as error:
            assert "\n" not in str(error) and "; write " in str(error)
            continue
        assert value == pytest.approx(number / 1000, rel=1e-12)


def series_of(lengths_ms, rates_mbit_s):
    at_ms = np.concatenate(([0.0], np.cumsum(lengths_ms))).astype(float)
    return RateSeries(at_ms, np.array(rates_mbit_s, float))


@st.composite
def series(draw):
    """Draw bins of one length, of which the last may be shorter, with rates of which some are 0."""
    count = draw(st.integers(1, 8))
    bin_ms = draw(st.integers(10, 2000))
    last_ms = draw(st.integers(1, bin_ms))
    rates = draw(st.lists(st.integers(0, 200), min_size=count, max_size=count))
    return series_of([bin_ms] * (count - 1) + [last_ms], [rate / 4 for rate in rates])


@given(series())
def test_a_series_keeps_its_length_and_rates_through_its_table(drawn):
    found = parse_rates(format_rates(drawn), "f")
    assert found.at_ms[-1] - found.at_ms[0] == pytest.approx(drawn.at_ms[-1], abs=1e-6)
    middles = (drawn.at_ms[:-1] + drawn.at_ms[1:]) / 2
    index = np.searchsorted(found.at_ms - found.at_ms[0], middles, side="right") - 1
    assert found.mbit_s[index] == pytest.approx(drawn.mbit_s, rel=1e-9)


@given(series(), st.integers(10, 3000))
def test_a_series_keeps_its_length_and_bytes_as_a_trace_and_back(drawn, bin_ms):
    try:
        opportunities_ms = opportunities_of(drawn, "f")
    except TraceError as error:
        assert "less than one packet" in str(error)
        return
    sent_bits = float(np.sum(np.diff(drawn.at_ms) * drawn.mbit_s * 1000))
    assert len(opportunities_ms) == round(sent_bits / OPPORTUNITY_BITS)
    assert parse_mahimahi(format_mahimahi(opportunities_ms), "f").tolist() == (
        opportunities_ms.tolist()
    )
    back = rates_of(opportunities_ms, bin_ms)
    assert back.at_ms[-1] == drawn.at_ms[-1]
    bits = float(np.sum(np.diff(back.at_ms) * back.mbit_s * 1000))
    assert bits == pytest.approx(len(opportunities_ms) * OPPORTUNITY_BITS)


LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12)
HOST = st.lists(LABEL, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "test"]))


@given(
    st.lists(HOST, min_size=1, max_size=8, unique=True),
    st.sampled_from(["{}", "{}.", "https://{}", "HTTPS://{}/", "{}:443", "  {}  ", "{}/a?b=c"]),
    st.sampled_from(["", "domain\n", "\ufeff", "# a list\n\n"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_a_list_names_its_hosts_whatever_is_written_around_them(
    tmp_path_factory, hosts, form, head, end, capital
):
    lines = [form.format(host.upper() if capital else host) for host in hosts]
    file = tmp_path_factory.mktemp("lists") / "hosts.txt"
    file.write_text(head + end.join(lines) + end, encoding="utf-8", newline="")
    left_out = LeftOut()
    found = [host.name for _, host in read_hosts(file, Source("f", TARGETS), left_out)]
    assert (found, left_out.count) == (hosts, 0)


TEXT = st.one_of(
    st.text(max_size=60),
    st.text("0123456789.,;:-+eE\t\n \"'=mbpskbit_rtdown", max_size=80),
)


@pytest.mark.parametrize(
    "read",
    [
        lambda text: parse_delay_rate(text.encode(), SOURCE),
        lambda text: parse_rates(text, "f"),
        lambda text: parse_mahimahi(text, "f"),
        lambda text: networks_from_csv(f"rtt_ms,down_mbit_s\n{text}", "f"),
        lambda text: networks_from_csv(text, "f"),
    ],
    ids=["delay and rate", "rates", "mahimahi", "rows of users", "table of users"],
)
def test_any_text_is_read_or_refused_in_one_line(read):
    @given(TEXT)
    def check(text):
        try:
            read(text)
        except ExpectedError as error:
            assert isinstance(error, TraceError | NetworkError)
            assert "\n" not in str(error)

    check()


@given(st.text(max_size=40))
def test_any_word_is_a_host_or_is_refused_with_the_reason(text):
    try:
        host = parse_host(text)
    except ValueError as error:
        assert str(error)
        return
    assert host.name == host.name.lower() and host.path.startswith("/") and host.path.isascii()
    assert parse_host(host.name if ":" not in host.name else f"[{host.name}]").name == host.name
