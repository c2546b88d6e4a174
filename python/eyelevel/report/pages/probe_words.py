"""The claims of a report on probes about the median host, in words."""

from eyelevel.analysis.formats import format_p_equation
from eyelevel.analysis.stats.estimate import UNDETERMINED
from eyelevel.base.json_types import JsonMapping
from eyelevel.probes.differences import NO_CLEAR_DIFFERENCE


def verdict_sentence(pair: JsonMapping) -> str:
    """Return the claim about the median host with its interval, or that there is none."""
    a, b, median = pair["a"], pair["b"], pair["median_host_ms"]
    hosts = f"{pair['hosts']} hosts"
    if median["low"] is None:
        return (
            f"{a} - {b} is {median['value']:+.1f} ms in the median host, {UNDETERMINED} ({hosts})"
        )
    p = f"{format_p_equation(pair['p_holm'])} after correction for all comparisons"
    low, high = median["low"], median["high"]
    if pair["verdict"] == UNDETERMINED:
        return (
            f"{a} - {b} is {median['value']:+.1f} ms in the median host, {UNDETERMINED}: too few "
            f"hosts for so many comparisons (95 % interval {low:+.1f} to {high:+.1f} ms, {hosts}, "
            f"{p})"
        )
    if pair["verdict"] == NO_CLEAR_DIFFERENCE:
        return (
            f"no clear difference between {a} and {b}: {a} - {b} is {median['value']:+.1f} ms in "
            f"the median host (95 % interval {low:+.1f} to {high:+.1f} ms, {hosts}, {p})"
        )
    faster, slower = (b, a) if pair["verdict"] == "b faster" else (a, b)
    low, high = sorted((abs(low), abs(high)))
    return (
        f"{faster} was faster than {slower}, by {abs(median['value']):.1f} ms in the median host "
        f"(95 % interval {low:.1f} to {high:.1f} ms, {hosts}, {p})"
    )
