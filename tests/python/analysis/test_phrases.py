import math
from dataclasses import replace

import pytest

from eyelevel.analysis.formats import NO_BREAK, format_ms, format_percent
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.phrases import answer, detectable, format_limit, verdict
from eyelevel.stats.estimate import Estimate
from eyelevel.stats.slow_loads import SlowLoads
from eyelevel.stats.timeouts import Timeouts


def gain(value, low, high, p=0.001, network="dsl", stack="quic"):
    estimate = Estimate(value, low, high, p, 0.01, 4.0, 2)
    return NetworkGain(network, stack, "tcp", "speed_index_ms", estimate, p)


def lacking(reason, value=None):
    return NetworkGain("lte", "quic", "tcp", "speed_index_ms", Estimate(value, reason=reason))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (gain(-0.12, -0.15, -0.09), "faster"),
        (gain(0.12, 0.09, 0.15), "slower"),
        (gain(-0.03, -0.08, 0.02, p=0.2), "no clear difference"),
        (gain(-0.12, -0.2, -0.04, p=0.06), "no clear difference"),
        (gain(0.01, -0.02, 0.04, p=0.5), "no difference that matters"),
        (gain(-0.02, -0.03, -0.01, p=0.001), "no difference that matters"),
        (lacking("a load timed out"), "undetermined"),
        (lacking("one block shows no spread", -0.1), "undetermined"),
    ],
)
def test_verdicts(found, expected):
    assert verdict(found, smallest_effect=0.05) == expected


def test_there_is_no_verdict_if_mean_and_median_have_opposite_signs():
    found = replace(gain(-0.12, -0.15, -0.09), median=Estimate(0.01), difference=Estimate(-1234.0))
    assert verdict(found, 0.05) == "mean and median disagree"
    (sentence,) = answer([found], "speed_index_ms", 0.05)
    assert sentence.replace(NO_BREAK, " ") == (
        "Speed Index: quic against tcp has no verdict, since mean and median have opposite signs, "
        "on dsl (−12.0 %, 95 % interval −15.0 % to −9.0 %, −1 234 ms; median +1.0 %)."
    )
    assert verdict(replace(gain(0.01, -0.02, 0.04), median=Estimate(-0.01)), 0.05) == (
        "no difference that matters"
    )


def test_the_limit_of_timeouts_is_one_several_or_none():
    assert format_limit(Timeouts(1, 0, 9, 60_000.0, 60_000.0, 1.0)) == "within 60 s"
    assert format_limit(Timeouts(1, 0, 9, 60_000.0, 90_500.0, 1.0)) == "within 60 to 90.5 s"
    late = Timeouts(1, 0, 9, math.inf, math.inf, 1.0)
    of_no_time = replace(gain(0, 0, 0), metric="objects", timeouts=late, p_timeouts_holm=0.5)
    sentence = answer([of_no_time], "objects", 0.05)[-1]
    assert sentence == (
        "Timeouts on dsl: 1 of 9 loads of quic against 0 of 9 of tcp did not come in time "
        "(p = 0.5 among all comparisons)."
    )


def test_slow_loads_are_said_where_they_differ_after_correction():
    slow = SlowLoads(Estimate(0.2, 0.1, 0.3), Estimate(0.0, 0.0, 0.05), 40, 0.001)
    found = replace(gain(-0.03, -0.08, 0.02, p=0.2), slow_loads=slow, p_slow_holm=0.004)
    _, sentence = answer([found], "speed_index_ms", 0.05)
    assert sentence.replace(NO_BREAK, " ") == (
        "Slow loads on dsl: 20.0 % of quic's loads (10.0 % to 30.0 %) took more than 1.5 times "
        "their stack's median, and 0.0 % of tcp's loads (0.0 % to 5.0 %); p = 0.004 among all "
        "comparisons."
    )
    assert len(answer([replace(found, p_slow_holm=0.06)], "speed_index_ms", 0.05)) == 1
    assert "differ on 4 networks" in answer([found] * 4, "speed_index_ms", 0.05)[1]


def test_the_answer_says_each_networks_number_with_its_uncertainty():
    found = [gain(-0.123, -0.16, -0.086), lacking("a load timed out, so there is no mean")]
    sentences = answer(found, "speed_index_ms", 0.05)
    assert [text.replace(NO_BREAK, " ") for text in sentences] == [
        "Speed Index: quic was faster than tcp on dsl (−12.3 %, 95 % interval −16.0 % to −8.6 %); "
        "quic against tcp is undetermined on lte (a load timed out, so there is no mean)."
    ]


def test_an_interval_without_zero_that_claims_nothing_says_why():
    (sentence,) = answer([gain(-0.2, -0.28, -0.12, p=0.071)], "speed_index_ms", 0.05)
    assert sentence.replace(NO_BREAK, " ") == (
        "Speed Index: no clear difference between quic and tcp on dsl (−20.0 %, 95 % interval "
        "−28.0 % to −12.0 %; clear if it were the only comparison, p = 0.071 among all of them)."
    )


def test_many_networks_are_counted_and_not_listed():
    faster = [gain(-0.1 - n / 100, -0.2, -0.05, network=f"net-{n}") for n in range(4)]
    shown = lacking("one block shows no spread", 0.02)
    found = [*faster, shown, shown, shown, lacking("no complete block of a")]
    sentences = answer(found, "speed_index_ms", 0.05)
    assert [text.replace(NO_BREAK, " ") for text in sentences] == [
        "Speed Index: quic was faster than tcp on 4 networks (−13.0 % to −10.0 %; each in "
        "the tables); quic against tcp is undetermined on 4 networks (+2.0 % to +2.0 %; mostly "
        "since one block shows no spread; each in the tables)."
    ]


def test_numbers_as_a_reader_wants_them():
    assert format_percent(-0.0004).replace(NO_BREAK, " ") == "0.0 %"
    assert format_ms(1234.4, 180).replace(NO_BREAK, " ") == "1 234 ms"
    assert format_ms(math.inf, 180) == "slower than 180 s"
    assert format_ms(None, 180) == "none"


def test_what_could_be_shown_is_given_as_a_range():
    low, high = detectable([gain(-0.1, -0.2, 0)], "speed_index_ms")
    assert low == high == pytest.approx((2.776 + 0.941) * 0.01, rel=1e-3)
    assert detectable([lacking("none")], "speed_index_ms") is None
