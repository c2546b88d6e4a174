"""How much of a difference is due to what: differences of differences with their intervals.

With D the difference of two stacks, and D without a cause the difference of their counterfactuals:
what the cause contributes is D minus D without it. The sum of the single contributions may differ
from what all causes contribute together (D minus D without all): that rest is the interaction,
which is shown and not spread over the causes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eyelevel.stats.estimate import Estimate, Floats, sum_freedom, t_estimate, undetermined


@dataclass(frozen=True)
class Split:
    """A difference in parts that add up: single causes, their interaction, and what remains."""

    difference: Estimate
    causes: Mapping[str, Estimate]
    interaction: Estimate
    remaining: Estimate


def split_difference(
    actual: Sequence[Floats],
    without: Mapping[str, Sequence[Floats]],
    without_all: Sequence[Floats],
) -> Split:
    """The parts of a difference, each a mean over sites.

    Every sequence has an array a site: the paired differences by repetition, in one order. The
    intervals are Student's t on each part's own values, errors of sites add in squares (Welch and
    Satterthwaite): they assume repetitions that are independent, with values about normal. A
    timeout (infinity) makes every part undetermined.
    """
    parts = {
        name: [now - counterfactual for now, counterfactual in zip(actual, values, strict=True)]
        for name, values in without.items()
    }
    together = [
        now - counterfactual for now, counterfactual in zip(actual, without_all, strict=True)
    ]
    summed = [
        sum((part[site] for part in parts.values()), np.zeros(1)) for site in range(len(actual))
    ]
    interaction = [whole - singles for whole, singles in zip(together, summed, strict=True)]
    return Split(
        difference=mean_over_sites(actual),
        causes={name: mean_over_sites(values) for name, values in parts.items()},
        interaction=mean_over_sites(interaction),
        remaining=mean_over_sites(without_all),
    )


def mean_over_sites(values: Sequence[Floats]) -> Estimate:
    """The mean over sites of the means over repetitions, each site counting alike."""
    if not values or any(len(site) == 0 for site in values):
        return undetermined("no complete block is left")
    n = sum(map(len, values))
    if not all(np.isfinite(site).all() for site in values):
        return undetermined("a load timed out, so there is no mean", n)
    value = float(np.mean([site.mean() for site in values]))
    if min(map(len, values)) < 2:
        return undetermined("one block shows no spread", n, value)
    variances = [float(site.var(ddof=1)) / len(site) for site in values]
    total = math.fsum(variances)
    if total <= 0:  # nothing varies, as with a cause that is not there
        return Estimate(value, value, value, None, 0.0, None, n)
    freedom = sum_freedom(variances, [len(site) - 1 for site in values])
    return t_estimate(value, math.sqrt(total) / len(values), freedom, n)
