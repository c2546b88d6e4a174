"""Corrections for many comparisons, family by family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Method = Literal["holm", "benjamini-hochberg"]
_METHODS = {"holm": "holm", "benjamini-hochberg": "fdr_bh"}


@dataclass(frozen=True)
class Family:
    """A family of comparisons that are corrected together; its name describes it in a report."""

    name: str
    method: Method
    adjusted: tuple[float | None, ...]
    members: int
    """The number of comparisons with a p value; only these can be claims."""


def correct(families: Mapping[str, Sequence[float | None]], method: Method) -> dict[str, Family]:
    """Return adjusted p values by family, in the given order; undetermined ones stay undetermined.

    `holm` bounds the chance of any false claim in a family, whatever the dependence (Holm, Scand.
    J. Statistics 6, 1979); `benjamini-hochberg` bounds the expected share of false ones among the
    claims, for independent or positively dependent tests (J. Royal Statistical Society B 57, 1995).
    R: `p.adjust(p, "holm")`, `p.adjust(p, "BH")`.
    """
    # Imported here: it takes longer than all other imports of a command.
    from statsmodels.stats.multitest import multipletests

    families_by_name = {}
    for name, values in families.items():
        known = [p for p in values if p is not None]
        # A single comparison needs no call, each of which runs the garbage collector first.
        several = len(known) > 1
        adjusted = iter(multipletests(known, method=_METHODS[method])[1] if several else known)
        complete = tuple(None if p is None else float(next(adjusted)) for p in values)
        families_by_name[name] = Family(name, method, complete, len(known))
    return families_by_name


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return adjusted p values of one family by Holm's method; see `correct`.

    Computed by its definition, since each call of statsmodels runs the garbage collector, which may
    take 0.3 s, and a report of many machines has a family per comparison.
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

    A test is its p value and the smallest one that its data could have given. A test that cannot
    reach its part of the level makes no false claim, so that it costs the others nothing (Tarone,
    Biometrics 46, 1990); its adjusted p is 1. So the tests of unfinished loads cost the gains
    nothing if all or nearly all loads finished. None stays None.
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
