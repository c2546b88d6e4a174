"""The exact interval of a share."""

import scipy


def binomial_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson 1934: holds the true share with at least `confidence`.

    `trials` above 0, `successes` from 0 to `trials`.
    """
    tail = (1 - confidence) / 2
    low = scipy.stats.beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
    high = (
        scipy.stats.beta.ppf(1 - tail, successes + 1, trials - successes)
        if successes < trials
        else 1.0
    )
    return float(low), float(high)
