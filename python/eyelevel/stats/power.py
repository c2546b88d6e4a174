"""What a number of runs can show."""

import scipy

SIGNIFICANCE_LEVEL = 0.05
POWER = 0.8


def smallest_detectable(
    standard_error: float,
    degrees_of_freedom: float,
    significance_level: float = SIGNIFICANCE_LEVEL,
    power: float = POWER,
) -> float:
    """The true effect that a two-sided t test with this error finds with chance `power`.

    The usual sum of two t quantiles times the standard error (Bloom, Evaluation Review 19, 1995);
    close to the noncentral t for three or more degrees of freedom, and larger below.
    """
    level = float(scipy.stats.t.ppf(1 - significance_level / 2, degrees_of_freedom))
    return (level + float(scipy.stats.t.ppf(power, degrees_of_freedom))) * standard_error
