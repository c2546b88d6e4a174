"""Decide by rules whether an estimate with its interval agrees with a published claim.

A row agrees if the whole 95 % interval lies where the claim is, and disagrees if all of it lies
elsewhere. A claim agrees if all of its rows do: if it is false in one, that row agrees in at most
5 % of studies, so no correction is needed. It disagrees if one row does at the level that is
divided by the number of rows. So each claim has a false verdict in at most 5 % of studies, and a
text with n claims that were asked has at most n / 20 on average.
"""

import math
from collections.abc import Sequence
from typing import Literal

from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate
from eyelevel.replication.claims import Claim, Row

Verdict = Literal["agrees", "disagrees", "cannot tell", "not asked"]

WORDS = {
    "agrees": "holds for our sites too",
    "disagrees": "does not hold for our sites",
}
"""The verdicts on claims about a population of sites, which ours are not."""


def region_of(claim: Claim, row: Row) -> tuple[float, float]:
    """Return the values between which a row's claim is true."""
    if claim.rule == "order":
        return 0.0, math.inf
    if claim.rule == "bound":
        assert row.number is not None
        return (row.number, math.inf) if claim.sign == "above" else (-math.inf, row.number)
    if claim.rule == "sign":
        negative = claim.sign == "negative" if claim.sign else (row.number or 0.0) < 0
        return (-math.inf, 0.0) if negative else (0.0, math.inf)
    number = row.number or 0.0
    margin = claim.margin_of(number)
    return number - margin, number + margin


def judge_row(found: Estimate, region: tuple[float, float]) -> Verdict:
    """Return the verdict on an estimate by the values between which the claim is true.

    An edge that the interval touches, such as zero of two equal stacks, is not true.
    """
    if not found.determined:
        return "cannot tell"
    assert found.low is not None
    assert found.high is not None
    low, high = region
    if low < found.low and found.high < high:
        return "agrees"
    is_elsewhere = found.high < low or found.low > high
    return "disagrees" if is_elsewhere else "cannot tell"


def judge_claim(
    rows: Sequence[Verdict], corrected: Sequence[Verdict], *, are_complete: bool
) -> Verdict:
    """Return the verdict on a claim by those on its rows that have data.

    `corrected`: the same rows by intervals of `confidence_of` their number. Agreement needs all
    rows.
    """
    if not rows:
        return "not asked"
    if "disagrees" in corrected:
        return "disagrees"
    if are_complete and all(verdict == "agrees" for verdict in rows):
        return "agrees"
    return "cannot tell"


def confidence_of(rows: int) -> float:
    """Return the confidence of intervals by which one of several rows disagrees."""
    return 1 - SIGNIFICANCE_LEVEL / max(1, rows)


def word_verdict(claim: Claim, verdict: Verdict) -> str:
    """Return a verdict in the words of the claim's scope."""
    return WORDS.get(verdict, verdict) if claim.scope == "population" else verdict


def count_expected_false(asked: int) -> float:
    """Return how many verdicts of a text are false on average, at most."""
    return SIGNIFICANCE_LEVEL * asked
