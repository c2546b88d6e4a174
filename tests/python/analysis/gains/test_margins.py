"""A smallest effect of interest in ms, as a share of each reference."""

from dataclasses import replace

import polars as pl
import pytest
from synthetic_study import SyntheticStudy

from eyelevel.analysis.claims import effect_of, verdict
from eyelevel.analysis.conditions import describe_smallest_effect
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.margins import with_margins
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.errors import PlanError
from eyelevel.plan.file.parse import parse_plan

GAIN = NetworkGain("dsl", "pr/quic", "main/quic", "speed_index_ms", Estimate(0.0), 0.9)
TEXT = """\
sites = ["startup"]
networks = ["dsl"]
stacks = ["quic"]
variants = [{ name = "main" }, { name = "pr" }]
reference = "main"
blocks = 40
"""


def kept(**means_ms):
    rows = [
        ("dsl", stack.replace("_", "/"), value, outcome, 180_000.0)
        for stack, mean_ms in means_ms.items()
        for value, outcome in ((mean_ms / 2, "ok"), (mean_ms * 2, "ok"), (None, "timeout"))
    ]
    names = ["network", "stack", "speed_index_ms", "outcome", "limit_ms"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_it_is_a_share_of_the_geometric_mean_of_the_reference():
    loads = kept(main_quic=400.0, pr_quic=200.0).filter(outcome="ok")
    (gain,) = with_margins([GAIN], loads, "speed_index_ms", 10.0)
    assert gain.least_share == pytest.approx(10 / 400)
    assert with_margins([GAIN], loads, "speed_index_ms", None) == [GAIN]
    other = replace(GAIN, metric="page_load_time_ms")
    assert with_margins([other], loads, "speed_index_ms", 10.0) == [other]
    assert with_margins([replace(GAIN, reference="none")], loads, "speed_index_ms", 10.0)


def test_a_timeout_counts_as_its_limit():
    (gain,) = with_margins([GAIN], kept(main_quic=400.0), "speed_index_ms", 10.0)
    assert gain.least_share == pytest.approx(10 / (400**2 * 180_000) ** (1 / 3))


@pytest.mark.parametrize(
    ("least_share", "said"), [(0.0, "no clear difference"), (0.03, "no difference that matters")]
)
def test_of_share_and_ms_the_larger_decides(least_share, said):
    of = replace(GAIN, gain=Estimate(0.0, -0.025, 0.025, 0.9, 0.01, 39, 40))
    of = replace(of, one_sided=Estimate(0.0, -0.022, 0.022), least_share=least_share)
    assert verdict(of, 0.02) == said
    assert effect_of([GAIN, of], 0.02) == max(0.02, least_share)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", (0.02, 10.0)),
        ('smallest_effect_of_interest = "3 %"\n', (0.03, None)),
        ('smallest_effect_of_interest_ms = "16 ms"\n', (0.05, 16.0)),
    ],
)
def test_variants_have_a_margin_of_their_own_unless_the_plan_says_one(line, expected):
    plan = parse_plan(line + TEXT, "plan.toml")
    assert (plan.smallest_effect_of_interest, plan.smallest_effect_of_interest_ms) == expected


def test_it_is_described_with_both():
    said = describe_smallest_effect(parse_plan(TEXT, "plan.toml"))
    assert said.startswith("2.0\N{NO-BREAK SPACE}% or 10 ms, whichever is more (the default")


def test_no_time_is_no_margin():
    with pytest.raises(PlanError, match=r"plan\.toml:1: `smallest_effect_of_interest_ms`"):
        parse_plan(f'smallest_effect_of_interest_ms = "0 ms"\n{TEXT}', "plan.toml")


def test_a_study_that_may_stop_ends_sooner_by_a_wider_margin(tmp_path):
    """Speed Index is 600 ms there: 60 ms are 10 %, which so few blocks can exclude, 2 % cannot."""
    lines = {"narrow": "", "wide": 'smallest_effect_of_interest_ms = "60 ms"\n'}
    ended = {}
    for name, line in lines.items():
        own = f"seed = 4\nsmallest_effect_of_interest = 0.02\n{line}"
        study = SyntheticStudy(f"{own}{TEXT}[stop]\nblocks_min = 6\nfutility = false\n")
        study.run(tmp_path / name)
        results = study.results(tmp_path / name)
        (gain,) = [each for each in results.gains if each.metric == "speed_index_ms"]
        ended[name] = len(study.loaded) // 2, verdict(gain, results.smallest_effect)
    assert ended["narrow"] == (40, "no clear difference")
    assert ended["wide"][0] < 40 and ended["wide"][1] == "no difference that matters"
