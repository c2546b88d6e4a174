"""Holm's correction for a family of comparisons."""

from collections.abc import Sequence

from statsmodels.stats.multitest import multipletests


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values (Holm 1979), in the given order; undetermined ones stay so.

    Undetermined comparisons do not count as members of the family: nothing is claimed of them.
    """
    known = [p for p in p_values if p is not None]
    if not known:
        return [None] * len(p_values)
    adjusted = iter(float(p) for p in multipletests(known, method="holm")[1])
    return [None if p is None else next(adjusted) for p in p_values]
