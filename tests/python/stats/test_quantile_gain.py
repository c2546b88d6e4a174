import math
import warnings

import numpy as np
import pytest

from eyelevel.stats.quantile_gain import quantile_gain

SPREAD = np.arange(100.0, 112.0)
ZERO, LATE = np.zeros(12), np.full(12, math.inf)


def gain(x, r):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy's would go to a user's terminal
        return quantile_gain([(np.asarray(x), np.asarray(r))], 0.5)


@pytest.mark.parametrize("x", [ZERO, SPREAD])
def test_a_reference_of_zero_has_no_ratio(x):
    found = gain(x, ZERO)
    assert found.value is None and found.reason == "the reference's quantile is 0"


def test_a_reference_that_may_be_zero_where_it_is_drawn_again():
    often = np.where(np.arange(12) < 5, 0.0, SPREAD)
    assert gain(often, often).reason == "both stacks' quantiles may be 0"
    found = gain(2 * SPREAD, often)
    assert 0 < found.low < found.high == math.inf


def test_a_stack_whose_every_load_timed_out_is_slower_for_sure():
    for reference in (SPREAD, ZERO):
        found = gain(LATE, reference)
        assert (found.value, found.low, found.high) == (math.inf, math.inf, math.inf)
    assert gain(LATE, LATE).reason == "both stacks' quantiles are timeouts"


def test_a_reference_whose_every_load_timed_out_is_slower_for_sure():
    found = gain(SPREAD, LATE)
    assert (found.value, found.low, found.high) == (-1, -1, -1)


def test_runs_without_spread_have_no_interval():
    found = gain(np.full(12, 90.0), np.full(12, 100.0))
    assert found.value == pytest.approx(-0.1) and found.low is None
