"""Compute the time limit of a load: the time that its bytes need on its network, and a margin."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.plan.networks.cross_traffic import settling_s
from eyelevel.plan.networks.network import Network

LIMIT_S_MIN = 180.0
MARGIN = 2.0
"""Factor on the minimum transfer time, for headers, handshakes and slow starts."""
ROUND_TRIPS = 12
"""Round trips of a page: DNS, handshake, document, and a few levels of references."""
FAST_BIT_S = 10**9
"""Rate assumed for a direction without a link, bit/s."""
SEGMENT_BITS = 8 * 1448
LOSS_CONSTANT = math.sqrt(3 / 2)
"""Constant of Mathis, Semke, Mahdavi and Ott 1997: with loss rate p a connection sends
sqrt(3/2) / sqrt(p) segments per round trip.
"""


@dataclass(frozen=True)
class Weight:
    """A site's name and the bytes of its bodies."""

    site: str
    body_bytes: float


@dataclass(frozen=True)
class Tight:
    """A site and network whose loads need longer than their limit."""

    site: str
    network: str
    needed_s: float


def load_s(body_bytes: float, network: Network) -> float:
    """Estimate the minimum time of a load, s: its bytes at the link's rate, and round trips."""
    shares, waiting_s = 1, 0.0
    if network.cross_traffic:
        shares += sum(kind.flows for kind in network.cross_traffic if kind.direction == "down")
        waiting_s = settling_s(network.rtt_ms_min, network.queue_ms)
    transfer_s = 8 * body_bytes / (network.rate_down_bit_s or FAST_BIT_S) * shares
    return waiting_s + transfer_s + ROUND_TRIPS * network.rtt_ms_min / 1e3


def time_limit_s(body_bytes: float, network: Network) -> float:
    """Return a load's time limit, s: twice the needed time, rounded up, at least LIMIT_S_MIN.

    With random loss the needed time is at least that of one CUBIC or Reno connection.
    """
    needed_s = max(load_s(body_bytes, network), _lossy_s(body_bytes, network))
    return max(LIMIT_S_MIN, math.ceil(MARGIN * needed_s / 10) * 10.0)


def tight_cells(
    limit_s: float, weights: Sequence[Weight], networks: Sequence[Network]
) -> list[Tight]:
    """Return the cells in which no load can end within `limit_s`, the slowest first."""
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
