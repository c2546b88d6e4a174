"""How much of a difference is due to what: differences of differences with their intervals.

With D the difference of two stacks, and D without a cause the difference of their counterfactuals:
what the cause contributes is D minus D without it. What all causes contribute together (D minus D
without all) and the sum of the single contributions need not be the same: the rest of it is the
interaction, which is shown and not spread over the causes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from eyelevel.stats.estimate import Estimate, undetermined

CONFIDENCE = 0.95

Floats = NDArray[np.float64]


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
        name: [now - gone for now, gone in zip(actual, values, strict=True)]
        for name, values in without.items()
    }
    together = [now - gone for now, gone in zip(actual, without_all, strict=True)]
    summed = [sum((parts[name][at] for name in parts), np.zeros(1)) for at in range(len(actual))]
    interaction = [all_of - each for all_of, each in zip(together, summed, strict=True)]
    return Split(
        difference=mean_over_sites(actual),
        causes={name: mean_over_sites(values) for name, values in parts.items()},
        interaction=mean_over_sites(interaction),
        remaining=mean_over_sites(without_all),
    )


def mean_over_sites(values: Sequence[Floats]) -> Estimate:
    """The mean over sites of the means over repetitions, each site counting alike."""
    if not values or any(len(each) == 0 for each in values):
        return undetermined("no complete block is left")
    n = sum(map(len, values))
    if not all(np.isfinite(each).all() for each in values):
        return undetermined("a load timed out, so there is no mean", n)
    value = float(np.mean([each.mean() for each in values]))
    if min(map(len, values)) < 2:
        return undetermined("one block shows no spread", n, value)
    squares = [float(each.var(ddof=1)) / len(each) for each in values]
    total = math.fsum(squares)
    if total <= 0:  # nothing varies: as of a cause that is not there
        return Estimate(value, value, value, None, 0.0, None, n)
    freedom = total**2 / math.fsum(
        square**2 / (len(each) - 1) for square, each in zip(squares, values, strict=True)
    )
    error = math.sqrt(total) / len(values)
    reach = float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * error
    p = 2 * float(scipy.special.stdtr(freedom, -abs(value) / error))
    return Estimate(value, value - reach, value + reach, p, error, freedom, n)
