"""Bulk transfers that share a network's path with the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from eyelevel.base.errors import NetworkError, unknown
from eyelevel.base.lab_tables import LIMITS
from eyelevel.base.settings import Settings, within

Controller = Literal["cubic", "bbr", "reno"]
"""Congestion controllers of the kernel's TCP."""

Direction = Literal["down", "up"]

FLOWS_MAX = int(LIMITS["flows"].max)
"""Maximum number of flows in one lab, over all kinds."""

SETTLING_ROUND_TRIPS = 20
"""Round trips between the flows' start and the page's: slow start takes ten on the fastest
preset, then comes the loss that ends it, and as long again.
"""
SETTLING_S_MIN, SETTLING_S_MAX = 1.0, 20.0


@dataclass(frozen=True)
class CrossTraffic(Settings):
    """Transfers of one kind: downstream with the page, or upstream against its acknowledgements.

    `stated` returns an element of the lab's `cross_traffic` (spec/lab-events.md).
    """

    congestion_control: Controller
    flows: Annotated[int, within("flows")] = 1
    direction: Direction = "down"

    def __str__(self) -> str:
        """Return the value in the form of the command line's option."""
        return f"{self.congestion_control}:{self.flows}:{self.direction}"


def parse_cross_traffic(text: str) -> CrossTraffic:
    """Parse `CONTROLLER[:FLOWS[:DIRECTION]]`; raises `NetworkError`."""
    words = text.split(":")
    if len(words) > 3:
        raise _refusal(text, "too many colons; write cubic:2:down")
    controller, flows, direction = (*words, *("1", "down")[len(words) - 1 :])
    if controller not in get_args(Controller):
        raise _refusal(text, unknown("congestion control", controller, get_args(Controller)))
    if not (flows.isascii() and flows.isdigit() and 1 <= int(flows) <= FLOWS_MAX):
        raise _refusal(text, f"`{flows}` flows; use from 1 to {FLOWS_MAX}, as in cubic:2:down")
    if direction not in get_args(Direction):
        raise _refusal(text, unknown("direction", direction, get_args(Direction)))
    return CrossTraffic(controller, int(flows), direction)  # type: ignore[arg-type]


def parse_all_cross_traffic(texts: Sequence[str]) -> tuple[CrossTraffic, ...]:
    """Parse all options; raises `NetworkError` if one is invalid, or for too many flows in all."""
    kinds = tuple(parse_cross_traffic(text) for text in texts)
    try:
        check_flows(kinds)
    except NetworkError as error:
        raise NetworkError(f"--cross-traffic: {error}") from None
    return kinds


def check_flows(kinds: Sequence[CrossTraffic]) -> None:
    """Raise `NetworkError` if there are more flows than a lab supports."""
    if (flows := sum(kind.flows for kind in kinds)) > FLOWS_MAX:
        raise NetworkError(f"cross traffic of {flows} flows; use at most {FLOWS_MAX} in all")


def settling_s(rtt_ms_min: float, queue_ms: float) -> float:
    """Return the seconds that flows run before the page: round trips with full queues."""
    wanted_s = SETTLING_ROUND_TRIPS * (rtt_ms_min + queue_ms) / 1e3
    return min(max(wanted_s, SETTLING_S_MIN), SETTLING_S_MAX)


def _refusal(text: str, reason: str) -> NetworkError:
    return NetworkError(f"--cross-traffic {text}: {reason}")
