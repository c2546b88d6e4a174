"""Write the values of a claim's estimator in its unit, for tables and figures."""

from eyelevel.analysis.formats import format_number, with_minus
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.replication.claims import Claim

SHORT = {
    "speed_index_ms": "SI",
    "first_visual_change_ms": "FVC",
    "visual_complete_85_ms": "VC85",
    "last_visual_change_ms": "LVC",
    "page_load_time_ms": "PLT",
}
_SHARES = (
    "mean_gain",
    "median_change",
    "median_of_loads_change",
    "p95_change",
    "spread_of_gains",
    "share_faster",
    "share_faster_by",
    "share_slower",
    "share_undecided",
)
_UNITS = {
    "mean_difference_ms": " ms",
    "quantile_ms": " ms",
    "median_dns_ms": " ms",
    "residual_rtt": " RTT",
    "handshake_round_trips_saved": " RTT",
    "row_count": "",
}


def format_estimate(claim: Claim, found: Estimate) -> str:
    """Return an estimate with its interval, or with the reason that it has none."""
    if found.value is None:
        return found.reason
    if found.low is None or found.high is None:
        return f"{format_value(claim, found.value)} ({found.reason})"
    low, high = (format_value(claim, each, unit=False) for each in (found.low, found.high))
    return f"{format_value(claim, found.value)} [{low}, {high}]"


def format_value(claim: Claim, value: float, *, signed: bool = True, unit: bool = True) -> str:
    """Return a value of a claim's estimator with its unit; differences have a sign."""
    estimator = str(claim.estimator)
    is_share = estimator.startswith("share") or estimator in ("row_count", "median_dns_ms")
    sign = "+" if signed and not is_share else ""
    if estimator in _SHARES:
        form = format_number(100 * value, f"{sign}.1f")
        return f"{form} %" if unit else form
    digits = 0 if estimator == "row_count" and float(value).is_integer() else 2
    digits = 0 if abs(value) >= 100 else digits
    text = with_minus(f"{value:{sign},.{digits}f}")
    return f"{text}{_UNITS[estimator]}" if unit else text
