import numpy as np
import pytest

from eyelevel.stats.sequential import confidence_sequence

LOOKS = 60
STUDIES = 2000


def reach_over_error(n, level=0.05):
    found = confidence_sequence(np.arange(float(n)), level)
    return np.inf if found.low is None else (found.value - found.low) / found.standard_error


def test_looking_after_every_block_misses_the_truth_at_most_as_often_as_promised():
    # The reach in standard errors depends on n alone, so that 120,000 looks are arrays.
    draws = np.random.Generator(np.random.PCG64(5)).standard_normal((STUDIES, LOOKS))
    n = np.arange(1, LOOKS + 1)
    means = draws.cumsum(axis=1) / n
    squares = (draws**2).cumsum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt((squares - n * means**2) / (n - 1) / n)
        t = np.abs(means) / errors
    reaches = np.array([np.inf, *(reach_over_error(k) for k in n[1:])])
    ever = (t[:, 1:] > reaches[1:]).any(axis=1).mean()
    assert 0.01 < ever <= 0.05 + 3 * (0.05 * 0.95 / STUDIES) ** 0.5
    # A plain t interval, looked at as often, would be wrong several times as often.
    assert (t[:, 1:] > 2.0).any(axis=1).mean() > 0.2


def test_it_narrows_and_is_wider_than_a_plain_interval():
    found = [reach_over_error(n) / n**0.5 for n in (8, 16, 32, 64)]
    assert found == sorted(found, reverse=True)
    assert reach_over_error(30) > 2.05


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "no complete block is left"),
        ([1.0], "the blocks so far show no spread"),
        ([1.0, 1.0, 1.0], "the blocks so far show no spread"),
        ([1.0, 2.0], "2 blocks are too few to stop at"),
        ([1.0, np.inf, 2.0], "a load timed out, so there is no mean"),
    ],
)
def test_what_cannot_be_known_is_undetermined(values, reason):
    found = confidence_sequence(values, 0.05)
    assert found.low is None and found.p is None and found.reason == reason
