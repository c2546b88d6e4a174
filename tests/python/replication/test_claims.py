"""The files of claims: those that are shipped, and refusals of invalid ones."""

import re
from collections import Counter

import pytest

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.base.errors import PlanError
from eyelevel.plan.file.narrow import Narrowing
from eyelevel.plan.file.parse import parse_plan
from eyelevel.replication.claims import ClaimsError, list_texts, parse_claims, read_claims
from eyelevel.replication.parts import Part, Timed, fit_blocks, list_parts

SITES = ["plain", "agency"]
HEAD = """[text]
name = "x"
citation = "A. Author: X. 2020."
short = "Author 2020"
plans = ["wolsing-2019"]
"""
CLAIM = """[[claims]]
id = "X1"
place = "section 1"
claim = "QUIC is faster."
scope = "population"
rule = "sign"
sign = "negative"
comparisons = ["quic/tcp+"]
networks = ["dsl", "lte"]
"""


def test_founding_texts_and_two_of_today_are_shipped() -> None:
    assert list_texts() == [
        *("chou-cao-2026", "das-2014", "jaeger-2018", "rizvi-2026", "wolsing-2019")
    ]


@pytest.mark.parametrize("name", list_texts())
def test_shipped_claims_are_whole(name: str) -> None:
    claims = read_claims(name).claims
    assert sum(each.is_askable for each in claims) >= 3
    for each in claims:
        assert each.place
        assert len(each.claim) <= 170, each.id
        if not each.is_of_study:
            continue
        assert each.rows, each.id
        for metric in each.metrics:
            assert metric in METRICS_BY_NAME, each.id
        for _, comparison in each.cells:
            stack, _, reference = comparison.partition("/")
            assert stack != reference, each.id


@pytest.mark.parametrize("name", [name for name in list_texts() if name != "jaeger-2018"])
def test_parts_of_shipped_claims_are_plans(name: str) -> None:
    claims = read_claims(name)
    parts = list_parts(claims, SITES, Narrowing(sites=("plain",)))
    assert {each.preset for each in parts} <= set(claims.text.plans)
    for part in parts:
        plan = parse_plan(part.text, part.preset, site_names=SITES, metric_names=METRICS_BY_NAME)
        assert [network.name for network in plan.networks] == [part.network]
        assert part.claims >= 1


def test_figure_5_2_has_three_hundred_cells_as_printed() -> None:
    """Sums over rows of the thesis's maps, so that a changed cell shows."""
    maps = {each.id: each.numbers for each in read_claims("das-2014").claims if each.numbers}
    sums = {name: round(100 * sum(cells.values())) for name, cells in maps.items()}
    assert {name: len(cells) for name, cells in maps.items() if name.startswith("D15")} == {
        "D15-spdy-http": 100,
        "D15-quic-http": 100,
        "D15-quic-spdy": 100,
    }
    assert [sums[f"D15-{name}"] for name in ("spdy-http", "quic-http", "quic-spdy")] == [
        1423,
        -194,
        -2158,
    ]


def test_rows_are_every_network_metric_and_comparison() -> None:
    text = CLAIM.replace(
        'comparisons = ["quic/tcp+"]',
        'comparisons = ["quic/tcp+", "quic/tcp"]\nmetrics = ["page_load_time_ms"]',
    )
    (claim,) = parse_claims(HEAD + text, "x.toml").claims
    assert Counter(row.network for row in claim.rows) == {"dsl": 2, "lte": 2}
    assert claim.rows[0].stacks == ("quic", "tcp+")


def test_small_numbers_have_no_sign_to_test() -> None:
    text = CLAIM.replace('sign = "negative"\n', "least = 0.1\n") + (
        "numbers = { dsl = -0.2, lte = 0.05 }\n"
    )
    (claim,) = parse_claims(HEAD + text, "x.toml").claims
    assert [row.network for row in claim.rows] == ["dsl"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('id = "X1"', 'id = "X1"\nscop = 1'), "X1: `scop`"),
        (('scope = "population"', 'scope = "lost"'), "`scope = lost` needs a `reason`"),
        (('rule = "sign"\n', ""), "needs a `rule`"),
        (('networks = ["dsl", "lte"]\n', ""), "names neither `networks` nor `data`"),
        (('sign = "negative"\n', ""), "a claim of a sign needs `sign` or `numbers`"),
        (('rule = "sign"', 'rule = "number"'), "needs `number`"),
        (('rule = "sign"', 'rule = "equivalence"'), "needs a `margin`"),
        (('rule = "sign"', 'rule = "bound"'), "a claim of a bound"),
        (('rule = "sign"', 'rule = "order"'), "needs two `terms`"),
        (('comparisons = ["quic/tcp+"]\n', ""), "names no `comparisons`"),
        (('["quic/tcp+"]', '["quic"]'), "`quic` is no comparison; write STACK/REFERENCE"),
        (('rule = "sign"', 'rule = "sign"\nmetrics = ["speed_index"]'), "speed_index_ms"),
        (('rule = "sign"', 'rule = "sign"\nplan = "wolsing"'), "did you mean `wolsing-2019`"),
    ],
)
def test_invalid_claim_is_refused_by_name(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ClaimsError) as refused:
        parse_claims(HEAD + CLAIM.replace(*change), "x.toml")
    assert "x.toml" in str(refused.value)
    assert message in str(refused.value)


def test_claim_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ClaimsError, match="X1: this claim is there twice"):
        parse_claims(HEAD + CLAIM + CLAIM, "x.toml")


def test_unknown_text_has_the_nearest_name() -> None:
    with pytest.raises(ClaimsError, match="did you mean `wolsing-2019`"):
        read_claims("wolsing-2018")


def make_timed(network: str, claims: int, repetition_s: float) -> Timed:
    (part,) = list_parts(
        parse_claims(HEAD + CLAIM.replace('"dsl", "lte"', f'"{network}"'), "x"),
        SITES,
        Narrowing(),
    )
    plan = parse_plan(part.text, part.preset, site_names=SITES, metric_names=METRICS_BY_NAME)
    return Timed(Part("wolsing-2019", network, claims, part.text), plan, repetition_s)


def test_budget_gives_all_parts_the_same_blocks_and_leaves_out_the_last() -> None:
    parts = [make_timed("dsl", 5, 100.0), make_timed("mss", 10, 1000.0)]
    assert [each.plan.blocks for each in fit_blocks(parts, 2200.0)] == [2, 2]
    assert [each.plan.blocks for each in fit_blocks(parts, 2199.0)] == [21]
    assert [each.plan.blocks for each in fit_blocks(parts, 100_000.0)] == [31, 31]
    assert fit_blocks(parts, 199.0) == []


def test_loads_of_a_comparison_and_its_reverse_are_the_same() -> None:
    text = CLAIM.replace('"quic/tcp+"', '"quic/tcp+", "tcp+/quic"')
    parts = list_parts(parse_claims(HEAD + text, "x"), SITES, Narrowing())
    assert all('comparisons = [["quic", "tcp+"]]' in each.text for each in parts)


def test_preset_with_sites_of_its_own_keeps_them() -> None:
    parts = list_parts(read_claims("wolsing-2019"), SITES, Narrowing(sites=("plain", "agency")))
    sites = {each.preset: each.text.splitlines()[0] for each in parts}
    assert sites["wolsing-2019"] == 'sites = ["plain", "agency"]'
    assert "synthetic:objects=64" in sites["wolsing-2019-single-origin"]


@pytest.mark.parametrize(
    ("narrowing", "message"),
    [
        (Narrowing(networks=("ltee",)), "--networks: unknown network `ltee`; did you mean `lte`?"),
        (Narrowing(stacks=("quic", "tcpp")), "--stacks: unknown stack `tcpp`"),
    ],
)
def test_narrowing_that_no_claim_fits_is_refused(narrowing: Narrowing, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        list_parts(read_claims("wolsing-2019"), SITES, narrowing)


def test_network_that_the_plan_lacks_is_named_with_its_text() -> None:
    text = HEAD + CLAIM.replace('"lte"', '"ltf"')
    with pytest.raises(ClaimsError, match="x: claims of wolsing-2019: unknown network `ltf`"):
        list_parts(parse_claims(text, "x"), SITES, Narrowing())


def test_part_that_does_not_fit_alone_is_skipped() -> None:
    parts = [make_timed("mss", 10, 1000.0), make_timed("dsl", 5, 100.0)]
    assert [each.part.network for each in fit_blocks(parts, 900.0)] == ["dsl"]
