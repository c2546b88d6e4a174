"""Format numbers for tables and sentences."""

import math

from eyelevel.analysis.stats.estimate import Estimate

NO_BREAK = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
SHARE_MAX = 1e4
"""The largest share that is printed as it is: 1,000,000 %."""
P_LEAST = 1e-10
"""The smallest p value that is printed: assumptions never hold well enough for smaller ones."""


def with_minus(text: str) -> str:
    """Replace each hyphen in a number's text by the minus sign, which is as wide as a plus."""
    return text.replace("-", MINUS)


def format_number(value: float, form: str) -> str:
    """Format a number, such as by `+.2f`, with a minus sign; zero has no sign."""
    text = f"{value:{form}}"
    return f"{0:{form.removeprefix('+')}}" if float(text) == 0 else with_minus(text)


def format_percent(share: float, signed: bool = True) -> str:
    """Format a share as percent with one decimal: `−12.3 %`."""
    return f"{format_in_percent(share, '+.1f' if signed else '.1f')}{NO_BREAK}%"


def format_in_percent(share: float, form: str) -> str:
    """Format a share's number of percents; above `SHARE_MAX`, that it is more."""
    if SHARE_MAX < share < math.inf:
        return f">{format_number(SHARE_MAX * 100, form.replace('.1f', '.0f'))}"
    return format_number(share * 100, form).replace("inf", "∞")


def format_ms(value: float | None, limit_s: float) -> str:
    """Format a duration for readers; an infinite one is slower than the limit."""
    if value is None:
        return "none"
    if math.isinf(value):
        return f"slower than {limit_s:g} s"
    return with_minus(f"{value:,.0f}{NO_BREAK}ms".replace(",", NO_BREAK))


def format_signed_ms(value: float, limit_s: float) -> str:
    """Format a difference of times with its sign."""
    if math.isinf(value):
        return "unbounded"
    return ("+" if value > 0 else "") + format_ms(value, limit_s)


def format_signed(value: float, metric: str) -> str:
    """Format a difference in the metric's own unit: milliseconds, or a score without one."""
    if metric.endswith("_ms"):
        return format_signed_ms(value, math.inf)
    return format_number(value, "+.3f")


def format_interval(estimate: Estimate, signed: bool = True) -> str:
    """Format the bounds of a share, or state that there are none."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{format_percent(estimate.low, signed)} to {format_percent(estimate.high, signed)}"


def format_change(share: float) -> str:
    """Format a gain in words, with its direction instead of a sign: `12.3 % faster`."""
    return f"{format_percent(abs(share), signed=False)} {_direction(share)}".rstrip()


def format_change_interval(estimate: Estimate) -> str:
    """Format an interval's bounds in words, the nearer to zero first if both are on one side."""
    low, high = estimate.low, estimate.high
    if low is None or high is None:
        return "no interval"
    ways = {_direction(low), _direction(high)} - {""}
    if len(ways) == 2:
        return f"{format_change(low)} to {format_change(high)}"
    near, far = sorted((low, high), key=abs)
    shares = (
        f"{format_percent(abs(near), signed=False)} to {format_percent(abs(far), signed=False)}"
    )
    return " ".join([shares, *ways])


def _direction(share: float) -> str:
    """Return "faster" or "slower" as `format_percent` rounds the change; empty for zero."""
    return "" if round(share * 100, 1) == 0 else "faster" if share < 0 else "slower"


def format_p(p: float) -> str:
    """Format a p value with two digits; the smallest are `1e-10 or less`."""
    return f"{P_LEAST:g} or less" if p <= P_LEAST else f"{p:.2g}"


def format_p_equation(p: float) -> str:
    """Format a p value for a sentence: `p = 0.03`."""
    return f"p ≤ {P_LEAST:g}" if p <= P_LEAST else f"p = {p:.2g}"
