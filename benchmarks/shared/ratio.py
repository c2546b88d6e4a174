"""The ratio of two medians, with an interval."""

import random
import statistics
from collections.abc import Sequence

DRAWS = 10_000


def ratio_of_medians(
    before: Sequence[float], after: Sequence[float], generator: random.Random
) -> tuple[float, float, float]:
    """Return the ratio of `after` to `before`, and the ends of its 95 % interval (percentile
    bootstrap)."""

    def of(first: Sequence[float], second: Sequence[float]) -> float:
        return statistics.median(second) / statistics.median(first)

    drawn = sorted(
        of(generator.choices(before, k=len(before)), generator.choices(after, k=len(after)))
        for _ in range(DRAWS)
    )
    return of(before, after), drawn[DRAWS // 40], drawn[-DRAWS // 40 - 1]
