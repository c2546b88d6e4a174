"""A congestion control in words."""

from collections.abc import Mapping
from typing import Any

ARRIVALS_BY_ACKS = "ACK arrivals"
ARRIVALS_BY_TIMESTAMPS = "receive timestamps"


def congestion_control_said(settings: Mapping[str, Any]) -> str:
    """The congestion control in force, with what makes it another algorithm.

    Sprout-EWMA follows the times at which packets arrive. A browser does not report them: over a
    real connection they are those of its acknowledgements, and results say so.
    """
    if settings["congestion_control"] != "sprout_ewma":
        return str(settings["congestion_control"])
    gain = f", probe gain {settings['probe_gain']:g}" if settings.get("probe_gain") else ""
    horizon = ", min(100 ms, RTT)" if settings.get("sprout_horizon") == "min" else ""
    return f"sprout_ewma ({ARRIVALS_BY_ACKS}){gain}{horizon}"
