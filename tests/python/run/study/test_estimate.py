import math
from dataclasses import replace

import numpy as np
import pytest
import scipy
from synthetic_run import SITES, write_run

from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.gate import evaluate
from eyelevel.analysis.stats.quantile_gain import blocks_to_part, one_block_error_at_most
from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.analysis.stats.stopping_rule import Rule, run_studies
from eyelevel.analysis.study import read_results
from eyelevel.base.errors import PlanError
from eyelevel.cli.results.gate import read_conditions
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.presets import preset_text
from eyelevel.run.study.estimate import DEVIATION, estimate
from eyelevel.run.study.time_limits import check_time_limits, describe_limits
from eyelevel.sites.recorded import open_site
from eyelevel.store.directory import TRIALS, list_committed

TEXT = preset_text("quickstart", SITES)
STOP = "[stop]\n"


def plan_of(text):
    return parse_plan(text, "plan.toml")


@pytest.fixture(scope="module")
def sites():
    """Any two recordings: what is predicted of disk and effects does not look into them."""
    return [open_site("plain"), open_site("article")]


@pytest.fixture(scope="module")
def like(tmp_path_factory):
    directory = tmp_path_factory.mktemp("like")
    write_run(directory, text=TEXT)
    return directory


@pytest.mark.parametrize("blocks", [12, 30])
def test_a_study_that_may_stop_finds_the_effect_as_often_as_promised(sites, blocks):
    text = TEXT.replace("blocks = 3", f"blocks = {blocks}")
    fixed, found = (estimate(plan_of(each), sites) for each in (text, text + STOP))
    (effect,) = set(found.effects.values())
    assert effect > 1.1 * fixed.effects["dsl"]
    assert "the level shared by 4 comparisons" in found.effect_source
    assert "at most" in found.time_source and "at most" not in fixed.time_source
    plan, draw = plan_of(text + STOP), np.random.Generator(np.random.PCG64(5))
    noise = DEVIATION / math.sqrt(2) * draw.standard_normal((2000, blocks))
    there, none = (
        run_studies(rule_of(plan), noise + shift, plan.stop.blocks_min)
        for shift in (math.log1p(-effect), 0.0)
    )
    assert 0.77 <= (there.claim < 0).mean() <= 0.83
    predicted = found.sequential
    ends = [int(np.median(studies.blocks)) for studies in (there, none)]
    assert [predicted.blocks_effect, predicted.blocks_equal] == pytest.approx(ends, abs=1)


def test_a_sign_and_nothing_to_find_end_a_study_before_its_last_block(sites):
    text = TEXT.replace("blocks = 3", "blocks = 60") + STOP
    text = "smallest_effect_of_interest = 0.01\n" + text
    without = "futility = false\n"
    found, to_the_end = (estimate(plan_of(text + more), sites).sequential for more in ("", without))
    assert found.blocks_equal < 50
    assert to_the_end.blocks_equal == 60
    assert found.effect == pytest.approx(to_the_end.effect, rel=0.1)


def test_a_cell_that_cannot_end_is_refused_and_without_a_limit_it_gets_the_time_it_needs():
    text = """\
sites = ["gallery"]
networks = ["das-0.2-300", "dsl"]
stacks = ["tcp"]
reference = "tcp"
blocks = 1
"""
    gallery, follows = [open_site("gallery")], plan_of(text)
    check_time_limits(follows, gallery)
    found = estimate(follows, gallery)
    assert found.timeout_s_max >= 2 * 239 and found.seconds > 239
    assert "in 1 of 2 cells" in describe_limits(follows, gallery)
    given = plan_of("timeout_s = 180\n" + text)
    with pytest.raises(PlanError, match=r"`timeout_s`: in 180 s .*`gallery` over `das-0.2-300` 24"):
        check_time_limits(given, gallery)
    check_time_limits(plan_of("timeout_s = 300\n" + text), gallery)


@pytest.mark.parametrize("blocks", [2, 3, 5])
def test_with_a_single_look_the_interval_is_that_of_a_fixed_study(blocks):
    plan = plan_of(TEXT.replace("blocks = 3", f"blocks = {blocks}") + STOP)
    once = replace(rule_of(plan), horizon=Horizon(blocks, blocks))
    level = once.significance_level
    expected = scipy.stats.t.ppf([1 - level / 2, 1 - level], blocks - 1)
    # Its level is simulated to within some 4 %, of which Student's t shows half at two freedoms.
    assert once.reaches(blocks) == pytest.approx(expected, rel=0.03)
    assert rule_of(plan).reaches(blocks)[0] >= expected[0] * 0.999


def test_blocks_that_are_too_few_for_a_sequence_show_nothing(sites, monkeypatch):
    monkeypatch.setattr(Rule, "reaches", lambda _rule, _n: (math.inf, math.inf))
    found = estimate(plan_of(TEXT + STOP), sites)
    assert not found.effects and found.effect_source == "3 blocks are too few to stop at"


def test_twins_are_no_comparisons_of_their_own(sites):
    text = TEXT.replace("blocks = 3", 'blocks = 30\ncauses = ["window"]') + STOP
    assert "shared by 4 comparisons" in estimate(plan_of(text), sites).effect_source


def test_a_load_takes_all_that_an_earlier_one_left(sites, like):
    plan = plan_of(TEXT)
    before = estimate(plan, sites, like)
    names = sorted(list_committed(like))
    assert len(names) == 36
    for name in names:
        logs = like / TRIALS / name / "logs"
        logs.mkdir()
        (logs / "client.pcap").write_bytes(b"x" * 2_000_000)
    after = estimate(plan, sites, like)
    assert after.disk_bytes - before.disk_bytes == pytest.approx(36 * 2e6)
    for name in names:
        (like / TRIALS / name / "logs/client.pcap").unlink()
        (like / TRIALS / name / "logs").rmdir()


def test_last_pictures_are_counted_by_site_and_not_by_load(sites, like):
    plan = plan_of(TEXT)
    before = estimate(plan, sites, like).disk_bytes
    larger = estimate(replace(plan, blocks=30), sites, like).disk_bytes
    (like / "pictures" / "one-more.webp").write_bytes(b"x" * 500_000)
    assert estimate(plan, sites, like).disk_bytes - before == pytest.approx(5e5)
    assert estimate(replace(plan, blocks=30), sites, like).disk_bytes - larger == pytest.approx(5e5)
    assert estimate(plan, sites[:1], like).disk_bytes == pytest.approx((before + 5e5) / 2)
    (like / "pictures" / "one-more.webp").unlink()


def test_without_an_earlier_run_a_sites_first_load_is_larger(sites):
    first, second = (
        estimate(plan_of(TEXT.replace("blocks = 3", f"blocks = {blocks}")), sites).disk_bytes
        for blocks in (1, 2)
    )
    assert 24 * 21e3 <= second <= 24 * 55e3 + 2 * 118e3
    assert 12 * 21e3 <= second - first <= 12 * 55e3
    alone = plan_of(TEXT).browser
    blind = replace(plan_of(TEXT), browser=replace(alone, capture=False))
    assert estimate(blind, sites).disk_bytes == 36 * 10_000


def test_logs_that_the_earlier_run_has_not_are_said_to_be_missing(sites, like):
    found = estimate(plan_of(f'logs = ["pcap"]\nnetlog = true\n{TEXT}'), sites, like)
    assert found.disk_source.endswith("without this plan's `netlog` and `logs`")
    assert "without" not in estimate(plan_of(TEXT), sites, like).disk_source


def test_a_gate_needs_more_blocks_for_a_lower_limit_a_family_and_a_noisier_run(sites, tmp_path):
    plan = plan_of(TEXT.replace("blocks = 3", "blocks = 12"))

    def blocks(*texts, like=None):
        return estimate(plan, sites, like, read_conditions(texts, plan)).gate_blocks

    ten, five = (f"quic.speed_index.p50 worse than tcp by {by}% on dsl" for by in (10, 5))
    assert estimate(plan, sites).gate_blocks is None
    assert 6 < blocks(ten) < blocks(five) / 2
    assert blocks(ten) < blocks(ten, "tcp+.speed_index.p50 worse than tcp by 10% on dsl")
    assert blocks("quic.speed_index.p50 worse than tcp by 0.1%") is None
    # A budget that every load keeps is passed once its rank has an upper bound.
    assert blocks("quic.speed_index.p75 above 2.5 s on dsl") == 16
    noisy, quiet = tmp_path / "noisy", tmp_path / "quiet"
    text = TEXT.replace("blocks = 3", "blocks = 12")
    write_run(noisy, text=text, noise=0.2)
    write_run(quiet, text=text, noise=0.02)
    assert blocks(ten, like=quiet) < blocks(ten) < blocks(ten, like=noisy)
    # A gain needs fewer than a percentile, and of a family more.
    gain = ten.replace(".p50", "")
    assert blocks(gain) < blocks(gain, five.replace(".p50", "")) < blocks(ten, five)
    assert 1.5 < blocks(ten) / blocks(gain) < 3
    assert blocks(gain, like=quiet) < blocks(gain) < blocks(gain, like=noisy)


def test_a_gate_like_an_earlier_run_has_the_error_that_its_network_shares(sites, tmp_path):
    text = TEXT.replace("blocks = 3", "blocks = 4")
    write_run(tmp_path, text=text, noise=0.1)
    plan = plan_of(text)
    (asked,) = conditions = read_conditions(["quic.speed_index worse than tcp by 5% on dsl"], plan)
    results = read_results(tmp_path)
    (verdict,) = evaluate(conditions, results)
    seen = verdict.estimate
    assert seen.degrees_of_freedom == 5, "two of them are the third stack's"
    error = one_block_error_at_most(seen)
    needed = blocks_to_part(error, math.log1p(asked.limit), 0.95)
    assert estimate(plan, sites, tmp_path, conditions).gate_blocks == needed
    alone = seen.standard_error * math.sqrt(seen.n * 3 / scipy.stats.chi2.ppf(0.2, 3))
    assert error < alone


@pytest.mark.parametrize(("limit", "enough"), [(5, True), (1, False)])
def test_a_gate_of_a_study_that_may_stop_needs_what_its_own_studies_need(sites, limit, enough):
    """Check that a study which ends by its own rule at 5 % leaves a limit of 1 % inconclusive."""
    stops = plan_of(TEXT.replace("blocks = 3", "blocks = 12") + STOP)
    conditions = read_conditions([f"quic.speed_index worse than tcp by {limit}% on dsl"], stops)
    count = estimate(stops, sites, None, conditions).gate_blocks
    fixed = plan_of(TEXT.replace("blocks = 3", "blocks = 12"))
    at_once = estimate(fixed, sites, None, conditions).gate_blocks
    assert (count is not None) == enough
    if count is not None:
        assert at_once < count < 2.5 * at_once


def test_blocks_are_whole_on_slots_in_their_order(sites, like):
    def seconds(slots, text=TEXT, like=like):
        return estimate(plan_of(text), sites, like, slots=slots).seconds

    block_s = seconds(1) / 12  # an earlier run's mean makes all alike
    rounds = [round(seconds(slots) / block_s, 6) for slots in (1, 2, 5, 11, 12, 10**9)]
    assert rounds == [12, 6, 3, 2, 1, 1]
    # Of several lengths the longest block bounds it, and the sum over the slots.
    several = [seconds(slots, like=None) for slots in (1, 5, 12)]
    assert several[0] / 5 < several[1] < several[0] / 5 + several[2]


def test_one_writer_bounds_many_slots(sites, like):
    many = TEXT.replace("blocks = 3", "blocks = 500")
    found = estimate(plan_of(many), sites, like, slots=10**6)
    assert found.seconds == pytest.approx(found.trials * 0.01)
    assert found.time_source.endswith("as fast as one writer commits")
    few = estimate(plan_of(many), sites, like, slots=3)
    assert few.time_source.endswith("3 slots once their machines are admitted")
    assert "slots" not in estimate(plan_of(many), sites, like).time_source
