"""Expected decisions: against simulated studies, and what cannot be decided."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from sample_claim import SITES, sample_claim
from synthetic_run import read_run

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.plan.file.narrow import Narrowing
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.plan import Plan
from eyelevel.replication.claims import Claim, Claims, Term, parse_claims
from eyelevel.replication.expected import (
    EFFECT,
    Loads,
    Scatter,
    find_probability_decided,
    measure_scatter,
)
from eyelevel.replication.parts import Timed, expect_decisions, list_parts, order_parts
from eyelevel.replication.verdicts import judge_row, region_of

STUDIES = 4000


def plan_of(network: str = "dsl", sites: list[str] = SITES) -> Plan:
    text = (
        f"sites = {json.dumps(sites)}\nnetworks = [{json.dumps(network)}]\n"
        'stacks = ["tcp", "tcp+", "quic"]\ncomparisons = [["quic", "tcp+"], ["tcp+", "tcp"]]\n'
        "blocks = 31\n"
    )
    return parse_plan(text, "plan.toml", site_names=SITES, metric_names=METRICS_BY_NAME)


SIGN: dict[str, object] = {"rule": "sign", "sign": "negative", "number": None}
EQUAL: dict[str, object] = {"rule": "equivalence", "margin": 0.05, "number": None}
BOUND: dict[str, object] = {"rule": "bound", "sign": "below", "number": -0.05}


@pytest.mark.parametrize("fields", [{}, SIGN, EQUAL, BOUND], ids=["number", "sign", "eq", "bound"])
@pytest.mark.parametrize("deviation", [0.02, 0.1, 0.3])
def test_probability_is_the_share_of_simulated_studies_that_decide(
    fields: dict[str, object], deviation: float
) -> None:
    of = sample_claim(**fields)
    (row,) = of.rows
    region, sites, draw = region_of(of, row), 15, np.random.Generator(np.random.PCG64(4))
    centre, decided = row.number or 0.0, 0
    for _ in range(STUDIES):
        truth = centre + EFFECT * draw.standard_normal()
        gains = truth + deviation * draw.standard_normal(sites)
        reach = scipy.stats.t.ppf(0.975, sites - 1) * gains.std(ddof=1) / np.sqrt(sites)
        middle = float(gains.mean())
        found = Estimate(middle, middle - reach, middle + reach)
        decided += judge_row(found, region) != "cannot tell"
    plan = plan_of(sites=SITES)
    error = deviation / np.sqrt(sites)
    expected = find_probability_decided(
        region, scipy.stats.t.ppf(0.975, sites - 1) * error, (centre, np.hypot(EFFECT, error))
    )
    assert expected == pytest.approx(decided / STUDIES, abs=0.03)
    assert Loads(plan, 31, 1000.0).expect_decisions([of], Scatter()) > 0


def expect(of: Claim, blocks: int = 4, plan: Plan | None = None, scatter: float = 0.05) -> float:
    loads = Loads(plan or plan_of(), blocks, 1000.0)
    return loads.expect_decisions([of], Scatter({"speed_index_ms": scatter}))


def test_what_has_too_few_loads_or_sites_is_not_expected_to_be_decided() -> None:
    assert expect(sample_claim(blocks_min=31), blocks=30) == 0
    assert expect(sample_claim(blocks_min=31), blocks=31) > 0
    assert expect(sample_claim(), plan=plan_of(sites=SITES[:4])) == 0
    five = plan_of(sites=SITES[:5])
    assert expect(sample_claim(estimator="median_change"), plan=five) == 0
    assert expect(sample_claim(estimator="median_change")) > 0
    assert expect(sample_claim(comparisons=("quic+bbr/tcp+",))) == 0
    assert expect(sample_claim(networks=("lte",))) == 0


def test_margin_and_scatter_decide_how_likely_a_decision_is() -> None:
    assert expect(sample_claim(), scatter=0.01) > expect(sample_claim(), scatter=0.1) > 0.1
    assert expect(sample_claim(margin=0.1)) != pytest.approx(
        expect(sample_claim(margin=0.01)), abs=0.01
    )
    many, few = (Loads(plan_of(), blocks, 1000.0) for blocks in (31, 1))
    default = Scatter()
    assert many.expect_decisions([sample_claim()], default) > few.expect_decisions(
        [sample_claim()], default
    )


def test_claim_over_two_networks_counts_half_in_each() -> None:
    both = sample_claim(networks=("dsl", "lte"))
    assert expect(both) == pytest.approx(expect(sample_claim()) / 2)
    order = sample_claim(
        rule="order", number=None, comparisons=("quic/tcp+",), networks=(),
        terms=(Term(network="dsl"), Term(network="lte")),
    )  # fmt: skip
    assert 0 < expect(order) <= 0.5


def test_differences_in_ms_are_against_the_time_of_a_load() -> None:
    def in_ms(load_ms: float) -> float:
        of = sample_claim(
            estimator="mean_difference_ms", rule="equivalence", margin=20.0, number=None
        )
        return Loads(plan_of(), 4, load_ms).expect_decisions([of], Scatter())

    share = sample_claim(rule="equivalence", margin=0.02, number=None)
    assert in_ms(1000.0) == pytest.approx(
        Loads(plan_of(), 4, 1.0).expect_decisions([share], Scatter())
    )
    assert in_ms(200.0) != pytest.approx(in_ms(1000.0), abs=0.01)
    residual = sample_claim(estimator="residual_rtt", rule="equivalence", margin=0.08, number=None)
    assert Loads(plan_of(), 4, 1.0).expect_decisions([residual], Scatter()) == pytest.approx(
        in_ms(1000.0)
    )


def test_scatter_is_that_of_earlier_runs(tmp_path: Path) -> None:
    text = f'sites = {json.dumps(SITES)}\nnetworks = ["dsl"]\nstacks = ["tcp", "quic"]\n'
    text += 'reference = "tcp"\nblocks = 1\n'
    found = {}
    for noise in (0.02, 0.2):
        results = read_run(tmp_path / str(noise), text=text, noise=noise)
        scatter = measure_scatter([(results.plan, results.table)])
        found[noise] = scatter.deviation("page_load_time_ms", 31)
        assert scatter.deviation("unknown_ms", 4) == pytest.approx(0.05)
    # A gain has the noise of two loads, and six sites show it roughly.
    assert 0.5 * 0.028 < found[0.02] < 2 * 0.028
    assert 5 < found[0.2] / found[0.02] < 20


HEAD = """[text]
name = "x"
citation = "A. Author: X. 2020."
short = "Author 2020"
plans = ["wolsing-2019"]
"""


def claims_of(networks: dict[str, str]) -> Claims:
    """Return two claims on the first network, and one on each other, with these further keys."""
    tables = []
    for number, (network, more) in enumerate(networks.items()):
        for copy in range(2 if number == 0 else 1):
            tables.append(
                f'[[claims]]\nid = "X{number}{copy}"\nplace = "1"\nclaim = "So."\n'
                f'scope = "population"\nrule = "sign"\nsign = "negative"\n{more}\n'
                f'comparisons = ["quic/tcp+"]\nnetworks = ["{network}"]\n'
            )
    return parse_claims(HEAD + "\n".join(tables), "x")


def order(claims: Claims, seconds: dict[str, float], budget_s: float) -> list[str]:
    timed = []
    for part in list_parts(claims, SITES, Narrowing(sites=tuple(SITES))):
        plan = parse_plan(part.text, part.preset, site_names=SITES, metric_names=METRICS_BY_NAME)
        timed.append(Timed(part, plan, seconds[part.network]))
    found = order_parts(expect_decisions(claims, timed, Scatter(), budget_s))
    return [each.part.network for each in found]


def test_parts_come_by_the_decisions_that_an_hour_brings() -> None:
    claims = claims_of({"dsl": "", "lte": "", "mss": ""})
    seconds = {"dsl": 100.0, "lte": 100.0, "mss": 30.0}
    assert order(claims, seconds, float("inf")) == ["mss", "dsl", "lte"]


def test_claims_that_the_budget_cannot_decide_come_last() -> None:
    claims = claims_of({"dsl": "blocks_min = 31", "lte": ""})
    seconds = {"dsl": 100.0, "lte": 200.0}
    assert order(claims, seconds, 3100.0) == ["dsl", "lte"]
    assert order(claims, seconds, 3000.0) == ["lte", "dsl"]
