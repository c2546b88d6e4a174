"""What a run could have shown, and what a plan will: one number a network."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from synthetic_run import SITES, write_run

from eyelevel.analysis.sensitivity import error_of_network, sensitivities, smallest_effect
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.presets import preset_text
from eyelevel.report.first_screen.opening import opening_json
from eyelevel.report.first_screen.warnings import warnings
from eyelevel.run.study.estimate import DEVIATION, estimate
from eyelevel.sites.recorded import open_site


@pytest.mark.parametrize("blocks", [3, 5, 10, 31])
@pytest.mark.parametrize("family", [1, 2, 8])
@pytest.mark.parametrize("sites", [2, 10, 38])
def test_at_a_known_spread_the_stated_difference_is_found_four_times_in_five(blocks, family, sites):
    """By the noncentral t itself: the true one has to pass the first of Holm's steps."""
    freedom, error = blocks + 1, 0.1 * math.sqrt(2 / sites / blocks)
    shift = -math.log1p(-smallest_effect(error, freedom, family)) / error
    limit = stats.t.ppf(1 - 0.05 / family / 2, freedom)
    assert stats.nct.sf(limit, freedom, shift) == pytest.approx(0.8, abs=1e-4)


def gains_of(results, errors, values=(-0.1, -0.2)):
    """The primary gains of dsl with these errors of their logarithms."""
    gains = [each for each in results.gains if each.metric == results.primary_metric]
    own = [each for each in gains if each.network == "dsl"]
    return [
        replace(gain, gain=Estimate(value, 0.0, 0.0, 0.5, error * (1 + value), 4.0, 3))
        for gain, error, value in zip(own, errors, values, strict=True)
    ]


def test_a_networks_comparisons_have_one_error(quickstart_contents):
    found = error_of_network(gains_of(quickstart_contents, (0.01, 0.07)), "dsl")
    assert found.error == pytest.approx(0.05) and found.freedom == 4
    assert found.deviation == pytest.approx(0.05 * math.sqrt(3))
    assert found.effect(4) == smallest_effect(found.error, 4.0, 4)
    assert error_of_network([], "dsl") is None


def test_a_report_states_one_number_a_network_and_that_it_is_an_estimate(quickstart_contents):
    results = quickstart_contents
    found = sensitivities(results)
    assert [each.network for each in found] == ["dsl", "lte"]
    for each in found:
        error = error_of_network(
            [gain for gain in results.gains if gain.metric == results.primary_metric],
            each.network,
        )
        assert each.effect == smallest_effect(error.error, 4.0, 4)
    assert [each["effect"] for each in opening_json(results)["sensitivity"]] == [
        each.effect for each in found
    ]
    (text,) = (text for head, text in warnings(results) if head.startswith("Only 3 blocks"))
    assert text.startswith("Differences smaller than about ") and "itself an estimate" in text
    assert "(dsl)" in text and "(lte)" in text


TEXT = preset_text("quickstart", SITES)


@pytest.mark.parametrize("blocks", [3, 12])
def test_a_plan_says_before_its_loads_what_its_report_would(blocks):
    sites = [open_site("plain"), open_site("article")]
    text = TEXT.replace("blocks = 3", f"blocks = {blocks}")
    found = estimate(parse_plan(text, "plan.toml"), sites)
    expected = smallest_effect(DEVIATION / math.sqrt(2 * blocks), blocks + 1, 4)
    assert found.effects == {"dsl": expected, "lte": expected}
    assert "correction for 4 comparisons" in found.effect_source
    with_twins = parse_plan(text.replace("blocks", 'causes = ["window"]\nblocks', 1), "plan.toml")
    assert estimate(with_twins, sites).effects == found.effects


def test_a_plan_like_an_earlier_run_has_what_that_run_could_have_shown(tmp_path):
    from synthetic_run import metrics_of

    from eyelevel.analysis.study import read_results

    write_run(tmp_path, text=TEXT)
    sites = [open_site("plain"), open_site("article")]
    found = estimate(parse_plan(TEXT, "plan.toml"), sites, tmp_path)
    assert found.effects["dsl"] != found.effects["lte"]
    results = read_results(tmp_path, metrics_of)
    stated = {each.network: each.effect for each in sensitivities(results)}
    assert found.effects == pytest.approx(stated, rel=1e-6)


def test_what_scatters_more_shows_less():
    effects = [smallest_effect(error, 4.0, 4) for error in np.linspace(0.01, 0.5, 5)]
    assert effects == sorted(effects) and effects[-1] < 1
