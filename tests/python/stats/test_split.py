import numpy as np
import pytest

from eyelevel.stats.split import mean_over_sites, split_difference


def sites(*means, seed=1, spread=1.0, n=8):
    random = np.random.Generator(np.random.PCG64(seed))
    return [mean + spread * random.standard_normal(n) for mean in means]


def test_the_parts_add_up_to_the_difference():
    actual, alone = (
        sites(-200, -220),
        {"handshake": sites(0, -10, seed=2), "loss": sites(-150, -160, seed=3)},
    )
    found = split_difference(actual, alone, sites(5, 5, seed=4))
    parts = [*found.causes.values(), found.interaction, found.remaining]
    assert sum(each.value for each in parts) == pytest.approx(found.difference.value)
    assert found.causes["handshake"].value == pytest.approx(-205, abs=1.5)
    assert found.causes["handshake"].low < -205 < found.causes["handshake"].high


def test_a_single_cause_has_no_interaction():
    actual, without = sites(-200), sites(0, seed=2)
    found = split_difference(actual, {"handshake": without}, without)
    assert found.interaction.value == 0 and found.interaction.low == found.interaction.high == 0
    assert found.remaining.value == pytest.approx(0, abs=1.5)


def test_what_cannot_be_known_is_undetermined():
    assert mean_over_sites([]).reason and mean_over_sites([np.zeros(0)]).reason
    assert "timed out" in mean_over_sites([np.array([1.0, np.inf])]).reason
    single = mean_over_sites([np.array([3.0])])
    assert single.value == 3 and single.low is None


def test_intervals_cover_the_truth_as_often_as_they_say():
    random = np.random.Generator(np.random.PCG64(5))
    covered = 0
    for _ in range(1000):
        values = [random.normal(10, spread, 6) for spread in (1, 4, 9)]
        estimate = mean_over_sites(values)
        covered += estimate.low <= 10 <= estimate.high
    assert 0.935 <= covered / 1000 <= 0.98
