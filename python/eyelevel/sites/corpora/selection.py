"""Draw sites from a corpus: by conditions, then from strata of their attributes, seeded (pure)."""

import operator
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from random import Random
from typing import Literal

from eyelevel.base.errors import CorpusError, unknown
from eyelevel.sites.corpora.attributes import ATTRIBUTES_BY_NAME, SiteAttributes

CLASSES = 3
"""Default number of classes of an attribute: low, middle and high."""
CLASSES_MAX = 20
_CONDITION = re.compile(r"\s*([a-z_]+)\s*(<=|>=|<|>|=)\s*([0-9.]+(?:e[0-9]+)?)\s*")
_SIGNS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_SIGNS |= {"=": operator.eq}

Allocation = Literal["proportional", "equal"]
"""Sites drawn per stratum: in proportion to its size, or the same number from each."""


@dataclass(frozen=True)
class By:
    """An attribute that is divided into classes with about the same number of sites."""

    attribute: str
    classes: int = CLASSES


@dataclass(frozen=True)
class Stratum:
    """Sites with similar attributes: a range of each."""

    ranges: tuple[tuple[str, float, float], ...]
    """Attribute, and its minimum and maximum in this stratum."""
    sites: tuple[SiteAttributes, ...]


def parse_by(text: str) -> list[By]:
    """Parse `body_bytes:4,server_addresses`; raises `CorpusError`."""
    found = []
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, _, classes = part.partition(":")
        _check_attribute(name)
        if classes and not (classes.isdecimal() and 2 <= int(classes[:9]) <= CLASSES_MAX):
            raise CorpusError(
                f"`{part}`: the number of classes must be a whole number from 2 to {CLASSES_MAX}"
            )
        found.append(By(name, int(classes) if classes else CLASSES))
    return found


def where(sites: Sequence[SiteAttributes], conditions: Sequence[str]) -> list[SiteAttributes]:
    """Return the sites that meet all conditions, such as `objects>=100`.

    A value that was not recorded meets none. Raises `CorpusError`.
    """
    kept = list(sites)
    for condition in conditions:
        found = _CONDITION.fullmatch(condition)
        if not found:
            raise CorpusError(
                f"--where `{condition}`: write it as an attribute, a sign and a number, such as "
                "`objects>=100`"
            )
        attribute = ATTRIBUTES_BY_NAME[_check_attribute(found[1])]
        try:
            value = float(found[3])
        except ValueError as error:
            raise CorpusError(
                f"--where `{condition}`: `{found[3]}` is not a number; write it as `objects>=100`"
            ) from error
        is_met = partial(_meets, _SIGNS[found[2]], value)
        kept = [site for site in kept if is_met(attribute.of(site))]
    return kept


def strata(sites: Sequence[SiteAttributes], by: Sequence[By]) -> list[Stratum]:
    """Return the strata: classes of each attribute, crossed; empty strata are left out.

    Classes have about the same number of sites, but sites with one value share a class. Raises
    `CorpusError` if an attribute was not recorded for all sites.
    """
    if not sites:
        return []
    cells: dict[tuple[int, ...], list[SiteAttributes]] = defaultdict(list)
    columns = [_values(sites, each) for each in by]
    edges = [_edges(column, each) for column, each in zip(columns, by, strict=True)]
    for number, site in enumerate(sites):
        values = (column[number] for column in columns)
        cells[tuple(map(bisect_right, edges, values))].append(site)
    return [_stratum(cells[place], by) for place in sorted(cells)]


def select(
    sites: Sequence[SiteAttributes],
    by: Sequence[By],
    count: int,
    seed: int,
    allocation: Allocation = "proportional",
) -> list[SiteAttributes]:
    """Draw `count` sites within strata by `seed`; returns them in the order of the corpus.

    The selection does not depend on that order. Raises `CorpusError` if there are fewer sites.
    """
    if count > len(sites):
        raise CorpusError(
            f"--count {count}: only {len(sites)} sites are left to draw from; lower it"
        )
    cells = strata(sorted(sites, key=lambda site: site.name), by)
    drawn: set[str] = set()
    random = Random(f"corpus-select {seed}")
    for cell, quota in zip(cells, _quotas(cells, count, allocation, random), strict=True):
        drawn |= {site.name for site in random.sample(cell.sites, quota)}
    return [site for site in sites if site.name in drawn]


def _meets(sign: Callable[[float, float], bool], limit: float, value: float | None) -> bool:
    return value is not None and sign(value, limit)


def _values(sites: Sequence[SiteAttributes], by: By) -> list[float]:
    attribute = ATTRIBUTES_BY_NAME[by.attribute]
    found = [value for site in sites if (value := attribute.of(site)) is not None]
    if lacking := len(sites) - len(found):
        raise CorpusError(
            f"--by {by.attribute}: {lacking} of {len(sites)} sites have no recorded "
            f'{attribute.title}; give another --by, or leave them out: --where "{by.attribute}>=0"'
        )
    return found


def _edges(values: list[float], by: By) -> list[float]:
    """Return the minimum of each class but the first.

    If the first cut is at the minimum of all values, which many sites then have, the class begins
    at the next value.
    """
    ranked = sorted(values)
    found: set[float] = set()
    for number in range(1, by.classes):
        edge = ranked[len(ranked) * number // by.classes]
        larger = (value for value in ranked if value > ranked[0])
        found.add(edge if edge > ranked[0] else next(larger, edge))
    return sorted(found)


def _stratum(sites: list[SiteAttributes], by: Sequence[By]) -> Stratum:
    ranges = []
    for each in by:
        values = _values(sites, each)
        ranges.append((each.attribute, min(values), max(values)))
    return Stratum(tuple(ranges), tuple(sites))


def _quotas(
    cells: Sequence[Stratum], count: int, allocation: Allocation, random: Random
) -> list[int]:
    """Return how many sites to draw from each stratum.

    Each gets its exact share rounded down, and one more for the largest remainders, with ties
    broken at random.
    """
    sizes = [len(cell.sites) for cell in cells]
    shares = _shares(sizes, count, allocation)
    quotas = [int(share) for share in shares]
    order = sorted(range(len(cells)), key=lambda n: (quotas[n] - shares[n], random.random()))
    for place in order[: count - sum(quotas)]:
        quotas[place] += 1
    return quotas


def _shares(sizes: Sequence[int], count: int, allocation: Allocation) -> list[Fraction]:
    """Return each stratum's share before rounding.

    With equal allocation, a stratum with too few sites gives all of them, and the others share the
    rest.
    """
    if allocation == "proportional":
        return [Fraction(count * size, sum(sizes)) for size in sizes]
    each, left, strata_left = Fraction(0), count, len(sizes)
    for size in sorted(sizes):
        each = Fraction(left, strata_left)
        if size > each:
            break
        left, strata_left = left - size, strata_left - 1
    return [min(Fraction(size), each) for size in sizes]


def _check_attribute(name: str) -> str:
    if name not in ATTRIBUTES_BY_NAME:
        raise CorpusError(unknown("attribute", name, ATTRIBUTES_BY_NAME))
    return name
