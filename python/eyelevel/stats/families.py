"""Corrections for many comparisons, family by family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
    """Adjusted p values of one family by Holm's method; see `correct`."""
    return list(correct({"": p_values}, "holm")[""].adjusted)
