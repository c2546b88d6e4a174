from random import Random

import pytest

from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.calibration.level.classes import SAMPLES_MIN, Bound, classify, difference

RUNS_MAX = 9
"""The value of the same name in `eyelevel.calibration.measuring.measure`, not imported here."""


def seen(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-4.9, 4.9, "equal"),
        (-5.0, 5.0, "equal"),
        (-1.0, 5.1, "unknown"),  # a part of it is beyond the margin
        (-40.0, 40.0, "unknown"),  # too wide, whatever its middle is
        (5.1, 9.0, "unequal"),
        (-9.0, -5.1, "unequal"),
    ],
)
def test_without_a_bound_the_whole_interval_must_lie_within_the_margin(low, high, word) -> None:
    assert classify(seen(low, high), 5.0) == word


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-205.0, -195.0, "inherent"),
        (-1.0, 1.0, "unequal"),  # a law demands a round trip less: its absence is an error
        (-230.0, -215.0, "unequal"),
        (-215.0, -195.0, "unknown"),
    ],
)
def test_what_is_inherent_has_a_bound_and_beyond_it_is_unequal(low, high, word) -> None:
    assert classify(seen(low, high), 10.0, Bound("inherent", -200.0, -200.0)) == word


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-1.0, 0.0, "equal"),
        (-6.0, -5.0, "browser"),
        (-12.0, -5.0, "unknown"),
        (2.0, 4.0, "unequal"),
    ],
)
def test_a_bound_that_begins_at_nothing_allows_nothing_too(low, high, word) -> None:
    assert classify(seen(low, high), 1.0, Bound("browser", -10.0, 0.0)) == word


def test_too_few_runs_tell_nothing() -> None:
    assert (
        difference([1.0, 1.0], [1.0, 1.0, 1.0], "mean").reason == "a stack has fewer than 3 values"
    )
    assert classify(undetermined(""), 1e9) == "unknown"


def test_counts_are_exact_and_assume_no_chance() -> None:
    assert difference([2.0] * 3, [2.0] * 3, "count") == Estimate(0.0, 0.0, 0.0)
    # One run in three with a connection more: not equal, and not sure to be unequal.
    found = difference([2.0, 2.0, 2.0], [2.0, 3.0, 2.0], "count")
    assert found == Estimate(0.0, 0.0, 1.0)
    assert classify(found, 0.0) == "unknown"
    assert classify(difference([2.0] * 3, [3.0] * 3, "count"), 0.0) == "unequal"


def test_labels_are_the_same_or_another() -> None:
    assert classify(difference(["a"] * 3, ["a"] * 3, "label"), 0.0) == "equal"
    assert classify(difference(["a"] * 3, ["b"] * 3, "label"), 0.0) == "unequal"
    assert classify(difference(["a"] * 3, ["a", "a", "b"], "label"), 0.0) == "unknown"


def test_means_have_welchs_interval() -> None:
    found = difference([10.0, 11.0, 12.0], [12.0, 14.0, 13.0], "mean")
    assert found.value == pytest.approx(2.0)
    half = 2.7764451 * (1 / 3 + 1 / 3) ** 0.5
    assert (found.low, found.high) == pytest.approx((2.0 - half, 2.0 + half))


def test_more_noise_never_makes_a_pair_equal() -> None:
    calm = difference([10.0, 10.1, 9.9], [10.0, 10.1, 9.9], "mean")
    loud = difference([10.0, 20.0, 0.0], [10.0, 20.0, 0.0], "mean")
    assert classify(calm, 1.0) == "equal"
    assert classify(loud, 1.0) == "unknown"


@pytest.mark.parametrize("compared", ["mean", "count"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_makes_a_row_unknown_never_equal(compared, value) -> None:
    for place in range(3):
        side = [2.0, 2.0, 2.0]
        side[place] = value
        assert difference(side, [2.0] * 3, compared).low is None
        assert difference([2.0] * 3, side, compared).low is None


def test_nothing_measured_is_unknown() -> None:
    assert difference([], [], "mean").value is None
    assert difference([], [], "count").value is None
    assert difference([], [], "label").value is None
    assert difference([1.0] * 9, [1.0], "count").value is None


def test_runs_that_are_added_while_a_row_is_unknown_seldom_make_a_wrong_word() -> None:
    """A difference that is exactly its margin is neither equal nor unequal: each of the two words
    may come once in forty, and each look is another chance."""
    draw, margin, times = Random(1), 5.0, 400
    words = []
    for _ in range(times):
        first, second = ([draw.gauss(mean, 3.0) for _ in range(RUNS_MAX)] for mean in (0.0, margin))
        looks = (
            classify(difference(first[:runs], second[:runs], "mean"), margin)
            for runs in range(SAMPLES_MIN, RUNS_MAX + 1)
        )
        words.append(next((word for word in looks if word != "unknown"), "unknown"))
    assert words.count("equal") < 0.08 * times
    assert words.count("unequal") < 0.08 * times
