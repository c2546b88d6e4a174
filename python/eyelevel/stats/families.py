"""Corrections for many comparisons, family by family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Method = Literal["holm", "benjamini-hochberg"]
_METHODS = {"holm": "holm", "benjamini-hochberg": "fdr_bh"}


@dataclass(frozen=True)
class Family:
    """Comparisons that are corrected together: its name says which, as a report has to."""

    name: str
    method: Method
    adjusted: tuple[float | None, ...]
    members: int
    """Comparisons with a p value; nothing is claimed of the others, so they do not count."""


def correct(families: Mapping[str, Sequence[float | None]], method: Method) -> dict[str, Family]:
    """Adjusted p values by family, in the given order; undetermined ones stay undetermined.

    `holm` bounds the chance of any false claim in a family, whatever the dependence (Holm, Scand.
    J. Statistics 6, 1979); `benjamini-hochberg` bounds the expected share of false ones among the
    claims, for independent or positively dependent tests (J. Royal Statistical Society B 57, 1995).
    R: `p.adjust(p, "holm")`, `p.adjust(p, "BH")`.
    """
    # Imported in here: it takes longer than all else that a command imports.
    from statsmodels.stats.multitest import multipletests

    families_by_name = {}
    for name, values in families.items():
        known = [p for p in values if p is not None]
        # One comparison is its own family and needs no call, which would collect all garbage first.
        several = len(known) > 1
        adjusted = iter(multipletests(known, method=_METHODS[method])[1] if several else known)
        complete = tuple(None if p is None else float(next(adjusted)) for p in values)
        families_by_name[name] = Family(name, method, complete, len(known))
    return families_by_name


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values of one family by Holm's method; see `correct`.

    By its definition, since each call of statsmodels collects all garbage first, which takes
    0.3 s where there is much, and a report of many machines has a family a comparison.
    """
    known = np.array([p for p in p_values if p is not None])
    order = np.argsort(known)
    stepped = np.maximum.accumulate(known[order] * np.arange(len(known), 0, -1))
    adjusted = np.empty(len(known))
    adjusted[order] = np.minimum(1.0, stepped)
    of_known = iter(adjusted.tolist())
    return [None if p is None else next(of_known) for p in p_values]


def holm_of_attainable(
    tests: Sequence[tuple[float | None, float]], significance_level: float
) -> tuple[list[float | None], int]:
    """Return p values adjusted by Holm over the tests that could reach the level, and their number.

    A test is its p value and the least that its data could have given; a test that cannot reach its
    part of the level makes no false claim, so that it takes nothing from the others (Tarone,
    Biometrics 46, 1990). Its adjusted p is 1. So the tests of how many loads did not finish cost
    the gains nothing where all or nearly all loads finished. None stays None.
    """
    least = [least for p, least in tests if p is not None]
    members = 1
    while sum(members * each <= significance_level for each in least) > members:
        members += 1
    counted = [p if p is not None and members * each <= significance_level else None
               for p, each in tests]  # fmt: skip
    adjusted = [
        1.0 if q is None and p is not None else q
        for q, (p, _) in zip(holm(counted), tests, strict=True)
    ]
    return adjusted, sum(p is not None for p in counted)
