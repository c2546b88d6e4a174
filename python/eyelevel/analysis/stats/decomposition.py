"""Decompose a difference into its causes: differences of differences with their intervals.

D is the difference of two stacks, and D without a cause is the difference of their counterfactuals.
The contribution of a cause is D minus D without it. The sum of the single contributions may differ
from that of all causes together (D minus D without all): that rest is the interaction, which is
reported and not spread over the causes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from eyelevel.analysis.stats.estimate import Estimate, Floats, undetermined
from eyelevel.analysis.stats.paired_gains import NO_SPREAD, mean_over_repetitions


@dataclass(frozen=True)
class Decomposition:
    """A difference in parts that add up: single causes, their interaction, and the remainder."""

    difference: Estimate
    causes: Mapping[str, Estimate]
    interaction: Estimate
    remaining: Estimate


def decompose_difference(
    actual: Floats, without: Mapping[str, Floats], without_all: Floats
) -> Decomposition:
    """Return the parts of a difference, each a mean over sites.

    Every array has the paired differences as sites x repetitions, all of one shape, with
    not-a-number for lost ones; an infinity leaves no means. The intervals are Student's t of each
    part's own values over repetitions, which sites share
    (`eyelevel.analysis.stats.paired_gains.mean_over_repetitions`).
    """
    if np.isinf([actual, without_all, *without.values()]).any():
        none = undetermined("a load timed out, so there is no mean", actual.shape[-1])
        return Decomposition(none, dict.fromkeys(without, none), none, none)
    parts = {name: actual - counterfactual for name, counterfactual in without.items()}
    interaction = actual - without_all - sum(parts.values(), np.zeros_like(actual))
    return Decomposition(
        difference=_mean(actual),
        causes={name: _mean(values) for name, values in parts.items()},
        interaction=_mean(interaction),
        remaining=_mean(without_all),
    )


def _mean(values: Floats) -> Estimate:
    mean = mean_over_repetitions(values)
    if mean.value is not None and mean.reason == NO_SPREAD:  # as for a cause that is absent
        return Estimate(mean.value, mean.value, mean.value, None, 0.0, None, mean.n)
    return mean
