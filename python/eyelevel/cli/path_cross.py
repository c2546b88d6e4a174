"""Cross traffic of the commands: what --cross means, and what is said of it afterwards."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from eyelevel.cli.output import table
from eyelevel.networks import CrossTraffic, NetworkError, check_flows, parse_cross_traffic

CROSS_HELP = (
    "Bulk transfers that share the path, CONTROLLER[:FLOWS[:DIRECTION]], such as cubic:2:down; "
    "cubic, bbr or reno; again for another kind."
)
CROSS_FILE = "cross_traffic.json"
"""In the folder of --log."""


def cross_of_options(texts: Sequence[str]) -> tuple[CrossTraffic, ...]:
    """The transfers that the options name; NetworkError where one makes no sense."""
    kinds = tuple(parse_cross_traffic(text) for text in texts)
    try:
        check_flows(kinds)
    except NetworkError as error:
        raise NetworkError(f"--cross: {error}") from None
    return kinds


def print_flows(found: Mapping[str, Any], console: Console) -> None:
    """Each flow's goodput and Jain's index, from a record's `cross_traffic`."""
    made = table("cross traffic", "way", "seconds", "Mbit/s", right=("seconds", "Mbit/s"))
    for flow in found["flows"]:
        made.add_row(
            flow["congestion_control"],
            flow["direction"],
            f"{flow['duration_ms'] / 1e3:.1f}",
            f"{flow['goodput_bit_s'] / 1e6:.3f}",
        )
    console.print(made)
    for direction, index in found["fairness_index"].items():
        if index is not None:
            console.print(f"Jain's fairness index {direction}: {index:.3f}")
