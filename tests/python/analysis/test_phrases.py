import math
from dataclasses import replace

import pytest

from eyelevel.analysis.claims import verdict
from eyelevel.analysis.formats import NO_BREAK, format_ms, format_percent
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.hypothesis import gain_equivalence


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
        (gain(-0.02, -0.03, -0.01, p=0.001), "faster, by less than matters"),
        (gain(0.02, 0.01, 0.03, p=0.001), "slower, by less than matters"),
        (lacking("a load timed out"), "undetermined"),
        (lacking("one block shows no spread", -0.1), "undetermined"),
    ],
)
def test_verdicts(found, expected):
    assert verdict(found, smallest_effect=0.05) == expected


def test_no_difference_that_matters_allows_for_the_family():
    """p of equivalence is 0.008: among six such questions it would be 0.05, among seven more."""
    found = gain(0.01, -0.018, 0.038, p=0.5)
    assert gain_equivalence(found.gain, 0.05).p == pytest.approx(0.0085, abs=0.002)
    assert verdict(replace(found, family=5), 0.05) == "no difference that matters"
    assert verdict(replace(found, family=7), 0.05) == "no clear difference"
    # One-sided bounds allow for family and looks already, and the interval may be wider.
    interval = replace(found.gain, low=-0.06, standard_error=None)
    sequence = replace(found, gain=interval, one_sided=Estimate(0.01, -0.03, 0.045), family=7)
    assert verdict(sequence, 0.05) == "no difference that matters"
    outside = replace(sequence, one_sided=Estimate(0.01, -0.03, 0.051))
    assert verdict(outside, 0.05) == "no clear difference"


def test_there_is_no_verdict_if_mean_and_median_have_opposite_signs():
    found = replace(gain(-0.12, -0.15, -0.09), median=Estimate(0.01))
    assert verdict(found, 0.05) == "mean and median disagree"
    assert verdict(replace(gain(0.01, -0.02, 0.04), median=Estimate(-0.01)), 0.05) == (
        "no difference that matters"
    )


def test_numbers_as_a_reader_wants_them():
    assert format_percent(-0.0004).replace(NO_BREAK, " ") == "0.0 %"
    assert format_percent(2.5e27).replace(NO_BREAK, " ") == ">+1000000 %"
    assert format_percent(9999.0).replace(NO_BREAK, " ") == "+999900.0 %"
    assert format_percent(math.inf).replace(NO_BREAK, " ") == "+∞ %"
    assert format_ms(1234.4, 180).replace(NO_BREAK, " ") == "1 234 ms"
    assert format_ms(math.inf, 180) == "slower than 180 s"
    assert format_ms(None, 180) == "none"
