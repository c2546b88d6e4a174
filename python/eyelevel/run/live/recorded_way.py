"""The network of replays that are held against a live page: as far to each server as it was."""

from collections.abc import Sequence

from eyelevel.errors import PlanError
from eyelevel.json_types import JsonMapping
from eyelevel.networks.network import Network, with_ways_beyond
from eyelevel.sites.recorded import RecordedSite, site_info

NAME = "recorded-rtt"


def at_recorded_round_trips(network: Network, recording: RecordedSite) -> Network:
    """The network with the round trips of the recording's handshakes added, by server address.

    Raises PlanError where a server has none.
    """
    origins = site_info(recording.path)["origins"]
    return with_ways_beyond(network, f"{network.name}+{NAME}", rtts_by_address(origins, recording))


def rtts_by_address(origins: Sequence[JsonMapping], recording: RecordedSite) -> dict[str, float]:
    """The least recorded round trip of each address, ms: its hosts differ by noise alone."""
    least: dict[str, float] = {}
    for origin in origins:
        rtt_ms = origin.get("handshake_rtt_ms_min")
        if rtt_ms is not None:
            address = origin["address"]
            least[address] = min(rtt_ms, least.get(address, rtt_ms))
    missing = [origin["host"] for origin in origins if origin["address"] not in least]
    if missing:
        raise PlanError(
            [
                f"{recording.path} has no recorded round trip of `{missing[0]}`: record the page "
                "with `eyelevel record`, or give --no-recorded-rtt and a --network with the page's"
            ]
        )
    return least
