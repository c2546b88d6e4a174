"""Sites are drawn by strata, seeded, and whatever is asked for is said back."""

import random
from collections import Counter

import pytest

from eyelevel.base.errors import CorpusError
from eyelevel.sites.corpora.attributes import SiteAttributes
from eyelevel.sites.corpora.selection import By, parse_by, select, strata, where


def site(number, body_bytes, addresses=1, objects=10):
    return SiteAttributes(
        name=f"s{number:03}", site=f"s{number}.wacz", page="https://x.example/", digest=str(number),
        server_addresses=addresses, origins=addresses, objects=objects, object_bytes=(),
        body_bytes=body_bytes, secure_share=1.0, secure_bytes_share=1.0,
        dependency_depth=2,
    )  # fmt: skip


@pytest.fixture
def sites():
    """120 sites: rising bytes, addresses that do not go with them."""
    return [site(n, 1000 * (n + 1), addresses=1 + (n * 7) % 3 * 10) for n in range(120)]


BYTES, ADDRESSES = By("body_bytes", 4), By("server_addresses", 3)


def test_strata_have_like_many_sites_and_each_site_once(sites):
    cells = strata(sites, [BYTES])
    assert [len(cell.sites) for cell in cells] == [30] * 4
    assert cells[0].ranges == (("body_bytes", 1000, 30_000),)
    crossed = strata(sites, [BYTES, ADDRESSES])
    assert len(crossed) == 12 and sum(len(cell.sites) for cell in crossed) == 120


def test_sites_of_one_value_are_of_one_class():
    alike = [site(n, 5) for n in range(30)] + [site(30 + n, 6) for n in range(3)]
    assert [len(cell.sites) for cell in strata(alike, [By("body_bytes", 3)])] == [30, 3]
    half = [site(n, n % 2) for n in range(30)]
    assert [len(cell.sites) for cell in strata(half, [By("body_bytes", 3)])] == [15, 15]
    one = [site(n, 5) for n in range(30)]
    assert [len(cell.sites) for cell in strata(one, [By("body_bytes", 3)])] == [30]
    assert strata([], [BYTES]) == [] and select([], [BYTES], 0, 1) == []


def test_a_selection_keeps_the_corpus_proportions(sites):
    drawn = select(sites, [BYTES, ADDRESSES], 24, seed=1)
    assert len(drawn) == len({each.name for each in drawn}) == 24
    quarters = Counter((each.body_bytes - 1000) // 30_000 for each in drawn)
    assert set(quarters.values()) == {6}
    assert Counter(each.server_addresses for each in drawn) == {1: 8, 11: 8, 21: 8}
    assert drawn == [each for each in sites if each in drawn], "in the order of the corpus"


def test_a_seed_draws_the_same_whatever_the_order(sites):
    drawn = {each.name for each in select(sites, [BYTES], 10, seed=5)}
    mixed = random.Random(1).sample(sites, len(sites))
    assert {each.name for each in select(mixed, [BYTES], 10, seed=5)} == drawn
    assert {each.name for each in select(sites, [BYTES], 10, seed=6)} != drawn


def test_equal_strata_take_from_a_rare_one_what_it_has():
    uneven = [site(n, 10, addresses=1) for n in range(30)] + [
        site(30 + n, 10, 9) for n in range(20)
    ]
    drawn = select(uneven, [By("server_addresses", 2)], 25, 1)
    assert Counter(each.server_addresses for each in drawn) == {1: 15, 9: 10}
    drawn = select(uneven, [By("server_addresses", 2)], 30, 1, "equal")
    assert Counter(each.server_addresses for each in drawn) == {1: 15, 9: 15}
    drawn = select(uneven, [By("server_addresses", 2)], 48, 1, "equal")
    assert Counter(each.server_addresses for each in drawn) == {1: 28, 9: 20}
    everything = select(uneven, [By("server_addresses", 2)], 50, 1)
    assert everything == uneven


@pytest.mark.parametrize(
    ("sizes", "count", "allocation", "quotas"),
    [
        ((60, 25, 15), 10, "proportional", {(6, 3, 1), (6, 2, 2)}),  # 6.0, 2.5, 1.5
        ((250, 125, 125), 3, "proportional", {(1, 1, 1)}),  # 1.5, 0.75, 0.75
        ((100, 90, 10), 19, "proportional", {(9, 9, 1)}),  # 9.5, 8.55, 0.95
        ((10, 1, 1), 7, "proportional", {(6, 1, 0), (6, 0, 1)}),  # 5.83, 0.58, 0.58
        ((52, 49, 49, 50, 300), 5, "proportional", {(1, 0, 0, 1, 3)}),  # .52, .49, .49, .5, 3
        ((1, 10, 10), 8, "equal", {(1, 4, 3), (1, 3, 4)}),  # 1, 3.5, 3.5
    ],
)
def test_a_stratum_gives_its_exact_share_rounded_down_or_up(sizes, count, allocation, quotas):
    """The largest remainders first; among like ones each seed decides for itself."""
    uneven = [
        site(1000 * stratum + n, 10, addresses=stratum)
        for stratum, size in enumerate(sizes, start=1)
        for n in range(size)
    ]
    found = set()
    for seed in range(20):
        drawn = select(uneven, [By("server_addresses", 20)], count, seed, allocation)
        counts = Counter(each.server_addresses for each in drawn)
        found.add(tuple(counts[stratum] for stratum in range(1, len(sizes) + 1)))
    assert found == quotas


def test_without_strata_it_is_a_plain_draw(sites):
    assert len(select(sites, [], 7, seed=1)) == 7


def test_what_was_not_recorded_meets_no_condition_and_makes_no_strata(sites):
    some = [*sites[:20], site(500, 7, addresses=None), site(501, 8, addresses=None)]
    with pytest.raises(CorpusError, match="2 of 22 sites have no recorded server addresses"):
        select(some, [ADDRESSES], 3, 1)
    assert where(some, ["server_addresses>=0"]) == sites[:20]
    assert where(some, ["server_addresses<1e9"]) == sites[:20]
    assert len(select(some, [BYTES], 22, 1)) == 22


def test_conditions_leave_sites_out(sites):
    assert len(where(sites, ["server_addresses=1", "body_bytes<=30e3"])) == 10
    assert len(where(sites, ["objects>9", "objects<11"])) == 120


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda sites: where(sites, ["objekts>3"]), "did you mean `objects`"),
        (lambda sites: where(sites, ["objects~3"]), "write it as an attribute"),
        (lambda sites: where(sites, ["objects>1.2.3"]), "is not a number"),
        (lambda _: parse_by("body_bytes:1"), "from 2 to 20"),
        (lambda _: parse_by("bytes"), "unknown attribute"),
        (lambda sites: select(sites, [], 121, 1), "only 120 sites"),
    ],
)
def test_what_cannot_be_drawn_is_said(sites, call, said):
    with pytest.raises(CorpusError, match=said):
        call(sites)


def test_attributes_with_classes_are_read():
    assert parse_by("body_bytes:4, objects") == [By("body_bytes", 4), By("objects", 3)]
