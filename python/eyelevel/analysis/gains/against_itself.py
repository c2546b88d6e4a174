"""The A/A test beside a comparison of variants: each variant against itself, from the run's loads.

Two neighbouring repetitions of one variant form a block, and which of the two counts as the
reference is drawn 1,000 times, for all sites alike. The differences found are noise of the page,
the browser and the machine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy

from eyelevel.analysis.formats import NO_BREAK, format_percent
from eyelevel.analysis.stats.censoring import up_to_limit
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Floats
from eyelevel.analysis.stats.paired_gains import find_zero_scale, pair_log_ratios
from eyelevel.analysis.trials.blocks import limits_by_site, loads_by_repetition
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.variants import are_variants, variant_of

DRAWS = 1000
SEED = 33
PAIRS_MIN = 3
"""The fewest pairs of repetitions with a spread worth showing."""


@dataclass(frozen=True)
class AgainstItself:
    """One variant of a comparison against itself on one network.

    `reach`: the share within which 95 of 100 draws find it to differ from itself, for as many
    blocks as the comparison has; `claimed_share`: of the draws, those whose own 95 % interval
    excludes zero. Both are None with the reason in `undetermined_because`.
    """

    network: str
    comparison: Comparison
    stack: str
    pairs: int
    reach: float | None = None
    claimed_share: float | None = None
    undetermined_because: str = ""

    @property
    def variant(self) -> str:
        """Return the name of the variant."""
        return variant_of(self.stack)

    def as_json(self) -> JsonObject:
        """Return the documented shape (docs/reference/report.md)."""
        return {
            "network": self.network,
            **self.comparison.stated(),
            "variant": self.variant,
            "pairs": self.pairs,
            "reach": self.reach,
            "claimed_share": self.claimed_share,
            "undetermined_because": self.undetermined_because,
        }


def against_itself(
    kept: pl.DataFrame,
    metric: str,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
    sites: Sequence[str],
) -> list[AgainstItself]:
    """Return both variants of each comparison of variants against themselves, by network.

    `kept` has the kept loads. A timeout counts as its limit.
    """
    found = []
    for network in networks:
        limits = limits_by_site(kept, network, metric, sites)
        for comparison in filter(are_variants, comparisons):
            for stack in (comparison.reference, comparison.stack):
                loads = loads_by_repetition(kept, network, stack, metric, sites)
                limited = up_to_limit(loads, limits)
                if find_zero_scale(limited, limited):
                    reason = "0 in nearly all loads"
                    of = (network, comparison, stack, loads.shape[1] // 2)
                    found.append(AgainstItself(*of, undetermined_because=reason))
                    continue
                pairs = _pair_neighbours(limited)
                found.append(_draw(network, comparison, stack, pairs, loads.shape[1]))
    return found


def _pair_neighbours(loads: Floats) -> Floats:
    """Return one value a pair of repetitions: the mean over sites of the log ratio of its loads;
    without the pairs that no site has."""
    even = loads[:, : loads.shape[1] // 2 * 2]
    if not even.size:
        return np.zeros(0)
    ratios = pair_log_ratios(even[:, 1::2], even[:, 0::2])
    there = ~np.isnan(ratios)
    sums, counts = np.where(there, ratios, 0.0).sum(axis=0), there.sum(axis=0)
    values: Floats = sums[counts > 0] / counts[counts > 0]
    return values


def _draw(
    network: str, comparison: Comparison, stack: str, pairs: Floats, blocks: int
) -> AgainstItself:
    """Return what the draws find; `blocks`: how many the comparison itself has."""
    count = len(pairs)
    if count < PAIRS_MIN or np.isinf(pairs).any() or not np.abs(pairs).max() > 0:
        reason = "too few blocks" if count < PAIRS_MIN else "its loads show no spread"
        return AgainstItself(network, comparison, stack, count, undetermined_because=reason)
    generator = np.random.Generator(np.random.PCG64(SEED))
    drawn = pairs * generator.choice((-1.0, 1.0), (DRAWS, count))
    means = drawn.mean(axis=1)
    errors = drawn.std(axis=1, ddof=1) / math.sqrt(count)
    beyond = scipy.special.stdtrit(count - 1, 1 - SIGNIFICANCE_LEVEL / 2)
    claimed = np.abs(means) > beyond * errors
    # A pair takes two blocks of one variant, and one of the comparison.
    reach = np.quantile(np.abs(means), 1 - SIGNIFICANCE_LEVEL) * math.sqrt(count / blocks)
    return AgainstItself(
        network, comparison, stack, count, math.expm1(float(reach)), float(claimed.mean())
    )


def noise_in_words(found: Sequence[AgainstItself], network: str, comparison: Comparison) -> str:
    """Return by what share both variants of a comparison differ from themselves; empty where
    neither has an answer.

    Where the comparisons are over several stacks, variants are named with theirs.
    """
    own = [each for each in found if (each.network, each.comparison) == (network, comparison)]
    if all(each.reach is None for each in own):
        return ""
    has_stacks = len({each.stack.removeprefix(each.variant) for each in found}) > 1
    clauses = [
        f"{each.stack if has_stacks else each.variant} "
        + (
            each.undetermined_because
            if each.reach is None
            else f"±{format_percent(each.reach, signed=False)}"
        )
        for each in own
    ]
    return f"against itself: {', '.join(clauses)}"


def noise_sentences(found: Sequence[AgainstItself]) -> list[str]:
    """Return one sentence per comparison and network with an answer, with both of its variants."""
    return [
        f"On {network}, {words} (95{NO_BREAK}% of {DRAWS:,} draws from its own loads)."
        for network, comparison in {(each.network, each.comparison): None for each in found}
        if (words := noise_in_words(found, network, comparison))
    ]
