"""Chromium's effective connection type, derived from a network's round-trip time.

By default Chromium estimates the type while a page loads, so that it differs between stacks and
changes during loads. Below 4g it holds back low-priority requests over every protocol, loads lazy
images from farther away, and reports the type to pages (`navigator.connection`).
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from eyelevel.base.settings import About

ConnectionType = Literal["slow-2g", "2g", "3g", "4g"]
ConnectionTypeSetting = Annotated[
    Literal["network", "measured", "slow-2g", "2g", "3g", "4g"],
    About(
        "the connection type that Chromium assumes: `network` derives it from the round trip; "
        "with `measured` the browser estimates it, which differs between stacks"
    ),
]

# Chromium, net/nqe/network_quality_estimator_params.cc: kHttpRttEffectiveConnectionTypeThresholds.
RTT_MS_FROM: Mapping[ConnectionType, float] = {"slow-2g": 2010.0, "2g": 1420.0, "3g": 272.0}
"""Minimum round-trip time of each type, ms; below all of them it is 4g."""


def connection_type(
    setting: ConnectionTypeSetting, rtt_ms_min: float
) -> ConnectionType | Literal["measured"]:
    """Return the connection type for a network with this minimum round-trip time."""
    if setting != "network":
        return setting
    return next((name for name, from_ms in RTT_MS_FROM.items() if rtt_ms_min >= from_ms), "4g")
