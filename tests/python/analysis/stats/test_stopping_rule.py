"""When a comparison of a study that may stop early is decided."""

import math
from dataclasses import replace

import numpy as np
import pytest

from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.analysis.stats.stopping_rule import (
    EVERY_REPETITION_MAX,
    STATES,
    Rule,
    blocks_to_decide,
    chances_at_end,
    decide,
    interim_repetitions,
    run_studies,
)

LEVEL = 0.05 / 2
LOOKS = Horizon(6, 60)


def state(value, half_width, n=20, n_end=60, median=None, **changed):
    """Of a gain on a logarithm whose interval reaches so far to either side."""
    rule = Rule(
        **{"smallest_effect": 0.05, "significance_level": LEVEL, "horizon": LOOKS} | changed
    )
    error = half_width / rule.reaches(n)[0]
    given = (value, error, value if median is None else median)
    return STATES[int(decide(rule, n, n_end, *map(np.asarray, given)))]


def test_a_sign_is_clear_once_its_interval_excludes_zero_and_the_median_agrees():
    assert state(-0.3, 0.29) == "clear sign" and state(0.3, 0.29) == "clear sign"
    assert state(-0.3, 0.31) == "open"
    assert state(-0.3, 0.29, median=0.01) == "open"


def test_a_narrow_interval_alone_decides_nothing():
    """It once did: plus or minus 5 points can neither exclude 0 for 5 % nor lie within 5 %."""
    assert state(-0.05, 0.051) == "open"
    assert state(-0.047, 0.048) == "open"


def test_likeness_takes_two_one_sided_bounds_at_the_whole_level():
    interval, bound = Rule(0.05, LEVEL, LOOKS).reaches(20)
    short_of_it = (math.log1p(0.05) - 0.012) * interval / bound
    assert state(0.012, 0.999 * short_of_it) == "no difference that matters"
    assert 0.012 + 0.999 * short_of_it > math.log1p(0.05), "the interval may reach further"
    assert state(0.012, 1.001 * short_of_it) == "open"
    assert state(-0.02, 0.019) == "clear sign, less than matters"
    assert state(-0.02, 0.019, median=0.01) == "no difference that matters"


def test_what_can_be_reached_no_more_is_futile():
    late = Rule(0.05, LEVEL, LOOKS).reaches(40)[0] * 0.3 / math.sqrt(40)
    assert state(-0.12, late, n=40) == "open"
    assert state(0.0, late, n=40) == "futile"
    assert state(0.0, late, n=40, futility=False) == "open"
    # Nothing is futile at the end, nor before there is an interval.
    assert state(0.0, late, n=40, n_end=40) == "open"
    early = decide(Rule(0.05, LEVEL, LOOKS), 4, 60, *(np.zeros(1), np.ones(1), np.zeros(1)))
    assert STATES[early[0]] == "open"
    # Likeness may yet be shown.
    assert state(0.012, 0.4 * late, n=40) == "open"
    assert state(0.012, 0.4 * late, n=40, smallest_effect=0.01) == "futile"


def test_what_is_undetermined_is_open():
    rule = Rule(0.05, LEVEL, LOOKS)
    values, errors = np.array([np.nan, 0.1, 0.1]), np.array([0.1, np.nan, 0.0])
    assert [STATES[each] for each in decide(rule, 20, 60, values, errors, values)] == ["open"] * 3
    interval, bound = rule.reaches(7)
    assert math.isinf(interval) and math.isfinite(bound), "a report has no interval yet"
    tiny = np.array([1e-6])
    assert STATES[decide(rule, 7, 60, tiny, tiny, tiny)[0]] == "open"


def test_the_chances_at_the_end_are_those_of_studies_that_went_on_as_they_began():
    rule, n, n_end, value, sd = Rule(0.05, LEVEL, LOOKS), 30, 60, -0.02, 0.07
    signs, equivalences = chances_at_end(
        rule, n, n_end, np.asarray(value), np.asarray(sd / math.sqrt(n))
    )
    draw = np.random.Generator(np.random.PCG64(8))
    studies = 20_000
    spread = sd * np.sqrt((n - 1) / draw.chisquare(n - 1, studies))
    truth = value + spread / math.sqrt(n) * draw.standard_normal(studies)
    later = truth + spread / math.sqrt(n_end - n) * draw.standard_normal(studies)
    mean = (n * value + (n_end - n) * later) / n_end
    interval, bound = (reach * sd / math.sqrt(n_end) for reach in rule.reaches(n_end))
    assert float(signs) == pytest.approx((np.abs(mean) > interval).mean(), abs=0.015)
    low, high = rule.bounds
    alike = ((mean - bound > low) & (mean + bound < high)).mean()
    assert float(equivalences) == pytest.approx(alike, abs=0.015)


def test_a_study_of_so_many_blocks_decides_in_four_of_five_cases():
    rule, n, value, sd = Rule(0.05, LEVEL, LOOKS), 20, -0.03, 0.09
    count = blocks_to_decide(rule, n, value, sd / math.sqrt(n))
    assert 60 < count < 400
    longer = replace(rule, horizon=Horizon(6, count))
    found = [
        sum(chances_at_end(longer, n, k, np.asarray(value), np.asarray(sd / math.sqrt(n))))
        for k in (int(0.9 * count), count)
    ]
    assert found[0] < 0.83 and found[1] >= 0.8


def test_looks_are_after_every_repetition_and_in_long_studies_after_every_further_hundredth():
    assert interim_repetitions(6, 60) == list(range(6, 60))
    far = interim_repetitions(5, 10_000)
    assert far[:96] == list(range(5, 101)) and far[-1] < 10_000
    steps = np.diff(far) / far[:-1]
    assert steps[100:].max() < 2.1 / EVERY_REPETITION_MAX and len(far) < 600
    assert interim_repetitions(60, 60) == []


def test_a_study_ends_at_the_first_look_that_decides_and_says_what_it_saw_then():
    rule = Rule(0.05, LEVEL, LOOKS)
    draw = np.random.Generator(np.random.PCG64(1))
    values = math.log(0.8) + 0.1 * draw.standard_normal((1, 60))
    (blocks,) = run_studies(rule, values, 6).blocks
    later = np.concatenate([values[:, :blocks], np.full((1, 60 - blocks), 9.0)], axis=1)
    found, again = (run_studies(rule, each, 6) for each in (values, later))
    assert 6 <= blocks < 30 and STATES[found.state[0]] == "clear sign" and found.claim[0] == -1
    for name in ("blocks", "state", "low", "high", "claim"):
        assert getattr(found, name)[0] == getattr(again, name)[0]
    n, x = blocks, values[0, :blocks]
    reach = rule.reaches(n)[0] * x.std(ddof=1) / math.sqrt(n)
    assert (found.low[0], found.high[0]) == pytest.approx((x.mean() - reach, x.mean() + reach))
