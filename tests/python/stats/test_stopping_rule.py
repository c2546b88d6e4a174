"""When a comparison of a study that may stop early is decided."""

import math

import numpy as np
import pytest

from eyelevel.stats.sequential import reach_in_errors
from eyelevel.stats.stopping_rule import LOOKS_APART, STATES, Rule, decide, looks, run_studies

LEVEL = 0.05 / 2


def state(value, half_width, n=20, n_end=60, median=None, **changed):
    """Of a gain on a logarithm whose interval reaches so far to either side."""
    rule = Rule(
        **{"width_max": 0.1, "smallest_effect": 0.05, "significance_level": LEVEL} | changed
    )
    error = half_width / reach_in_errors(n, LEVEL)
    given = (value, error, value if median is None else median)
    return STATES[int(decide(rule, n, n_end, *map(np.asarray, given)))]


def test_a_sign_is_clear_once_its_interval_is_no_wider_than_its_estimate():
    assert state(-0.3, 0.14) == "clear sign" and state(0.3, 0.12) == "clear sign"
    # The interval excludes 0, and is wider than the estimate.
    assert state(-0.3, 0.25) == "open"
    assert state(-0.3, 0.14, median=0.01) == "open"
    assert state(-0.3, 0.14, clear_sign=False) == "open"


def test_what_does_not_matter_and_what_is_known_closely_are_decided():
    assert state(-0.02, 0.025) == "no difference that matters"
    assert state(-0.05, 0.045) == "narrow enough"
    assert state(-0.05, 0.055) == "open"


def test_a_width_out_of_reach_is_no_end_while_the_sign_can_be_found():
    # sd 0.3: after 60 blocks the interval is three times as wide as asked for.
    half = reach_in_errors(12, LEVEL) * 0.3 / math.sqrt(12)
    assert state(-0.2, half, n=12) == "open"
    assert state(0.0, half, n=12) == "open"  # it may yet be found
    late = reach_in_errors(40, LEVEL) * 0.3 / math.sqrt(40)
    assert state(-0.12, late, n=40) == "open"
    assert state(0.0, late, n=40) == "futile"
    assert state(0.0, late, n=40, futility=False) == "open"
    # Nothing is futile at the end, nor before there is an interval.
    assert state(0.0, late, n=40, n_end=40) == "open"
    unbounded = decide(Rule(0.1, 0.05, LEVEL), 4, 5, *(np.zeros(1), np.ones(1), np.zeros(1)))
    assert STATES[unbounded[0]] == "open"


def test_a_width_out_of_reach_is_no_end_while_likeness_can_be_shown():
    half = reach_in_errors(40, LEVEL) * 0.075 / math.sqrt(40)
    assert state(0.012, half, n=40, width_max=0.01) == "open"
    assert state(0.012, half, n=40, width_max=0.01, smallest_effect=0.02) == "futile"


def test_what_is_undetermined_is_open():
    rule = Rule(0.1, 0.05, LEVEL)
    values, errors = np.array([np.nan, 0.1, 0.1]), np.array([0.1, np.nan, 0.0])
    assert [STATES[each] for each in decide(rule, 20, 60, values, errors, values)] == ["open"] * 3


def test_looks_are_after_every_repetition_and_in_long_studies_after_every_further_hundredth():
    assert looks(6, 60) == list(range(6, 60))
    far = looks(5, 10_000)
    assert far[:96] == list(range(5, 101)) and far[-1] < 10_000
    steps = np.diff(far) / far[:-1]
    assert steps[100:].max() < 2.1 / LOOKS_APART and len(far) < 600
    assert looks(60, 60) == []


def test_a_study_ends_at_the_first_look_that_decides_and_says_what_it_saw_then():
    rule = Rule(0.1, 0.05, LEVEL)
    draw = np.random.Generator(np.random.PCG64(1))
    values = math.log(0.8) + 0.1 * draw.standard_normal((1, 60))
    (blocks,) = run_studies(rule, values, 6).blocks
    later = np.concatenate([values[:, :blocks], np.full((1, 60 - blocks), 9.0)], axis=1)
    found, again = (run_studies(rule, each, 6) for each in (values, later))
    assert 6 <= blocks < 30 and STATES[found.state[0]] == "clear sign" and found.claim[0] == -1
    for name in ("blocks", "state", "low", "high", "claim"):
        assert getattr(found, name)[0] == getattr(again, name)[0]
    n, x = blocks, values[0, :blocks]
    reach = reach_in_errors(n, LEVEL) * x.std(ddof=1) / math.sqrt(n)
    assert (found.low[0], found.high[0]) == pytest.approx((x.mean() - reach, x.mean() + reach))
