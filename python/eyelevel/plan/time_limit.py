"""Compute how long a load may take: the time that its page's bytes need over its network, and a
margin."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.networks.cross_traffic import settling_s
from eyelevel.networks.network import Network

LIMIT_S_MIN = 180.0
MARGIN = 2.0
"""The factor on the least time for the bytes; headers, handshakes and slow starts come on top."""
ROUND_TRIPS = 12
"""The round trips of a page: name, handshake, document, and a few levels of references."""
FAST_BIT_S = 10**9
"""The rate of a direction without a link."""
SEGMENT_BITS = 8 * 1448
LOSS_CONSTANT = math.sqrt(3 / 2)
"""Mathis, Semke, Mahdavi and Ott 1997: a connection that repeats a share p of its segments moves
sqrt(3/2) segments a round trip over the root of p."""


@dataclass(frozen=True)
class Weight:
    """A site's name and the bytes of its bodies."""

    site: str
    body_bytes: float


@dataclass(frozen=True)
class Tight:
    """A cell that needs longer than it may."""

    site: str
    network: str
    needed_s: float


def load_s(body_bytes: float, network: Network) -> float:
    """Estimate the least time of a load, in s: its bytes at the link's rate, and round trips."""
    shares, waiting_s = 1, 0.0
    if network.cross_traffic:
        shares += sum(kind.flows for kind in network.cross_traffic if kind.direction == "down")
        waiting_s = settling_s(network.rtt_ms_min, network.queue_ms)
    transfer_s = 8 * body_bytes / (network.rate_down_bit_s or FAST_BIT_S) * shares
    return waiting_s + transfer_s + ROUND_TRIPS * network.rtt_ms_min / 1e3


def time_limit_s(body_bytes: float, network: Network) -> float:
    """Return the limit of a load of so many bytes: LIMIT_S_MIN, or twice what they need, to whole
    10 s.

    Where packets are lost, they need what one connection of CUBIC or Reno moves.
    """
    needed_s = max(load_s(body_bytes, network), _lossy_s(body_bytes, network))
    return max(LIMIT_S_MIN, math.ceil(MARGIN * needed_s / 10) * 10.0)


def tight_cells(
    limit_s: float, weights: Sequence[Weight], networks: Sequence[Network]
) -> list[Tight]:
    """Return the cells of which no load can end within `limit_s`, the slowest first."""
    cells = [
        Tight(weight.site, network.name, needed_s)
        for weight in weights
        for network in networks
        if (needed_s := load_s(weight.body_bytes, network)) > limit_s
    ]
    return sorted(cells, key=lambda cell: -cell.needed_s)


def _lossy_s(body_bytes: float, network: Network) -> float:
    if not network.loss_down or not network.rtt_ms_min:
        return 0.0
    rtt_s = network.rtt_ms_min / 1e3
    rate_bit_s = LOSS_CONSTANT * SEGMENT_BITS / (rtt_s * math.sqrt(network.loss_down))
    return 8 * body_bytes / rate_bit_s
