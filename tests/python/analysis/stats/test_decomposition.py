import numpy as np
import pytest

from eyelevel.analysis.stats.decomposition import decompose_difference


def sites(*means, seed=1, spread=1.0, n=8):
    random = np.random.Generator(np.random.PCG64(seed))
    return np.array([mean + spread * random.standard_normal(n) for mean in means])


def test_the_parts_add_up_to_the_difference():
    actual, alone = (
        sites(-200, -220),
        {"handshake": sites(0, -10, seed=2), "loss": sites(-150, -160, seed=3)},
    )
    found = decompose_difference(actual, alone, sites(5, 5, seed=4))
    parts = [*found.causes.values(), found.interaction, found.remaining]
    assert sum(each.value for each in parts) == pytest.approx(found.difference.value)
    assert found.causes["handshake"].value == pytest.approx(-205, abs=1.5)
    assert found.causes["handshake"].low < -205 < found.causes["handshake"].high


def test_a_single_cause_has_no_interaction():
    actual, without = sites(-200), sites(0, seed=2)
    found = decompose_difference(actual, {"handshake": without}, without)
    assert found.interaction.value == 0 and found.interaction.low == found.interaction.high == 0
    assert found.remaining.value == pytest.approx(0, abs=1.5)


def test_what_cannot_be_known_is_undetermined():
    none = decompose_difference(np.zeros((0, 0)), {}, np.zeros((0, 0)))
    assert none.difference.reason == "no complete block is left"
    lost = decompose_difference(np.array([[1.0, 2.0], [np.nan] * 2]), {}, np.zeros((2, 2)))
    assert lost.difference.reason == "no complete block is left"
    late = np.array([[1.0, np.inf]])
    found = decompose_difference(late, {"loss": late}, late)
    every = (found.difference, found.causes["loss"], found.interaction, found.remaining)
    assert all("timed out" in each.reason for each in every)
    single = decompose_difference(np.array([[3.0]]), {}, np.zeros((1, 1))).difference
    assert single.value == 3 and single.low is None


@pytest.mark.parametrize("shared", [0.0, 0.3])
def test_intervals_cover_the_truth_as_often_as_they_say(shared):
    """With errors of sites added in squares a shared disturbance made 13 % of them miss."""
    draw, misses, shape = np.random.Generator(np.random.PCG64(5)), 0, (10, 6)
    for _ in range(1000):
        actual, without = (
            draw.standard_normal(shape) + shared * draw.standard_normal((1, shape[1]))
            for _ in range(2)
        )
        found = decompose_difference(actual, {"loss": without}, without).causes["loss"]
        misses += found.low > 0 or found.high < 0
    assert misses / 1000 == pytest.approx(0.05, abs=0.021)


def test_a_lost_block_is_left_out_of_every_part():
    actual, without = sites(-200, -220), sites(0, 0, seed=2)
    actual[0, 0] = without[0, 0] = np.nan
    found = decompose_difference(actual, {"loss": without}, without)
    assert found.causes["loss"].n == 8
    assert found.causes["loss"].value == pytest.approx(
        np.mean([np.nanmean(row) for row in actual - without])
    )
