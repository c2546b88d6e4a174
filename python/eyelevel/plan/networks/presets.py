"""The shipped networks, as one table of groups."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from eyelevel.base.errors import NetworkError, unknown
from eyelevel.plan.networks.network import Network, loss_of_each_direction
from eyelevel.plan.networks.operators import LINKS, link_of, made

PACKET_BYTES = 1500


@dataclass(frozen=True)
class NetworkGroup:
    """Networks of one source."""

    name: str
    source: str
    networks: tuple[Network, ...]


def _paper(
    name: str, down_mbit_s: float, up_mbit_s: float, rtt_ms: float, loss_two_way: float, queue: int
) -> Network:
    loss = loss_of_each_direction(loss_two_way)
    down, up = round(down_mbit_s * 1e6), round(up_mbit_s * 1e6)
    return Network(name, down, up, rtt_ms, queue, loss, loss)


# Down and up in Mbit/s, minimum RTT in ms, two-way loss, queue in ms.
_WOLSING = (
    _paper("dsl", 25, 5, 24, 0, 12),
    _paper("lte", 10.5, 2.8, 74, 0, 200),
    _paper("3g", 3.54, 3.54, 94, 0.00048, 200),
    _paper("da2gc", 0.468, 0.468, 262, 0.033, 200),
    _paper("mss", 1.89, 1.89, 760, 0.06, 200),
)

# Das 2014, caption of figure 5-2. The axes of its maps have 2.9, 8.6 and 14.6 for 3, 8 and 14: even
# steps on a logarithmic scale, which the caption rounds.
DAS_RATES_MBIT_S = (0.2, 0.3, 0.6, 1, 1.7, 3, 5, 8, 14, 25)
DAS_RTTS_MS = (30, 60, 90, 120, 150, 180, 210, 240, 270, 300)


def _das(rate_mbit_s: float, rtt_ms: float) -> Network:
    # One bandwidth-delay product, but at least two full packets: at 0.2 Mbit/s and 30 ms a single
    # packet is already more than the product.
    rate_bit_s = round(rate_mbit_s * 1e6)
    name = f"das-{rate_mbit_s:.10g}-{rtt_ms:.10g}"
    return Network(name, rate_bit_s, rate_bit_s, rtt_ms, rtt_ms, queue_bytes_min=2 * PACKET_BYTES)


DAS_CAPTION_MBIT_S = 24
"""Rate of Das 2014, caption of figure 5-1: 1, 14 and 24 Mbit/s; his grid has 25 instead of the
last.
"""
DAS_CAPTION_RTTS_MS = (30, 120, 300)

# Das 2014, section 6.3: the mean rates of his two recorded links, down and up in Mbit/s, with three
# minimum RTTs. His recordings may not be shipped, so the courses are a model's with the same means,
# a separate one for each direction of each operator (seeds down and up): scaled from one, the two
# operators would be one link at two rates.
DAS_CELLULAR_MBIT_S = {"verizon": (19.1, 9.1), "att": (6.7, 1.1)}
DAS_CELLULAR_SEEDS = {"verizon": (1, 2), "att": (3, 4)}
DAS_CELLULAR_RTTS_MS = (30, 120, 300)
CELLULAR_S = 60
CELLULAR_QUEUE_MS = 1000


def _webpagetest(name: str, down_mbit_s: float, up_mbit_s: float, rtt_ms: int) -> Network:
    # Its profiles do not specify queues: 200 ms, as in most networks of the paper.
    return Network(name, round(down_mbit_s * 1e6), round(up_mbit_s * 1e6), rtt_ms, 200)


OPERATOR = "operator"
"""Name of the group of operators' links."""
UNSHAPED = "unshaped"
"""Name of the network without any limit."""

GROUPS: tuple[NetworkGroup, ...] = (
    NetworkGroup(
        "wolsing",
        "Wolsing et al. 2019, table 2, and their slides; they give queues in time and two-way loss",
        _WOLSING,
    ),
    NetworkGroup(
        "wpt",
        "WebPageTest, www/settings/connectivity.ini.sample (its 3G is wpt-3g here); the queue of "
        "200 ms is ours",
        (
            _webpagetest("cable", 5, 1, 28),
            _webpagetest("fios", 20, 5, 4),
            _webpagetest("4g", 9, 9, 170),
            _webpagetest("wpt-3g", 1.6, 0.768, 300),
            _webpagetest("3gfast", 1.6, 0.768, 150),
            _webpagetest("3gslow", 0.4, 0.4, 400),
        ),
    ),
    NetworkGroup(
        "modern",
        "starlink: Ookla's US medians of the last quarter of 2021, with the satellite model's "
        "course; "
        "5g: Ookla's medians of the fastest US operator in the second quarter of 2023 (the rate up "
        "is over all its technologies), with the cellular model's course; the queue of 200 ms is "
        "ours",
        (
            made("starlink", "satellite", (105, 12), 40, 200, 60, (1, 2)),
            made("5g", "cellular", (220, 12.2), 51, 200, 30, (1, 2)),
        ),
    ),
    NetworkGroup(
        "cellular",
        "Das 2014, section 6.3: the means of his recorded links. The courses come from the "
        "cellular model, with seeds of its own for each operator (1 and 2, 3 and 4), so only the "
        "means are the operators'; the queue of 1 s, which hardly ever drops, is ours. verizon-lte "
        "and att-lte are these links with fitted courses, and can use recordings (traces)",
        tuple(
            made(
                f"das-{n}-{rtt}",
                "cellular",
                rates,
                rtt,
                CELLULAR_QUEUE_MS,
                CELLULAR_S,
                DAS_CELLULAR_SEEDS[n],
            )
            for n, rates in DAS_CELLULAR_MBIT_S.items()
            for rtt in DAS_CELLULAR_RTTS_MS
        ),
    ),
    NetworkGroup(
        OPERATOR,
        "models of the links of four US operators, of which Das 2014 had recordings (section 4.3); "
        "the round trip is that of his figure 6-1 (verizon-lte-300 has another one); the queue of "
        "1 s, which hardly ever drops, is ours",
        tuple(link.model() for link in LINKS),
    ),
    NetworkGroup(
        "unshaped",
        "Das 2014, figure 5-1: how long a load takes on a link that does not limit it",
        (Network(UNSHAPED, 10**9, 10**9, 0, 100),),
    ),
    NetworkGroup(
        "das-24",
        "Das 2014, figure 5-1: the rate in its caption that his grid lacks; queues as in the grid",
        tuple(_das(DAS_CAPTION_MBIT_S, rtt) for rtt in DAS_CAPTION_RTTS_MS),
    ),
    NetworkGroup(
        "das",
        "Das 2014, figure 5-2: das-RATE-RTT in Mbit/s and ms, the same down and up; the rates are "
        "those of the caption (the axes of the maps have 2.9, 8.6 and 14.6 for 3, 8 and 14); the "
        "queue is one bandwidth-delay product, at least two full packets",
        tuple(_das(rate, rtt) for rate in DAS_RATES_MBIT_S for rtt in DAS_RTTS_MS),
    ),
)

NETWORKS: tuple[Network, ...] = tuple(n for group in GROUPS for n in group.networks)
NETWORKS_BY_NAME: dict[str, Network] = {network.name: network for network in NETWORKS}


_OF_GRID = re.compile(r"das-(\d{1,6}(?:\.\d{1,6})?)-(\d{1,5}(?:\.\d{1,3})?)", re.ASCII)
_RATES_MBIT_S = (0.001, 100_000.0)
_RTTS_MS = (0.1, 10_000.0)


def get_network(name: str) -> Network | None:
    """Return the network of this name, or None.

    Besides presets there are cells das-RATE-RTT at any rate (Mbit/s) and round trip (ms), and
    operators' links at any round trip, such as verizon-lte-300. Names are normalised as in the
    tables: das-1.70-30 is das-1.7-30, verizon-lte-120 is verizon-lte.
    """
    if name in NETWORKS_BY_NAME:
        return NETWORKS_BY_NAME[name]
    if (named := link_of(name)) is not None:
        link, rtt_ms = named
        return link.model(rtt_ms)
    found = _OF_GRID.fullmatch(name)
    if found is None:
        return None
    rate_mbit_s, rtt_ms = float(found[1]), float(found[2])
    within = (
        _RATES_MBIT_S[0] <= rate_mbit_s <= _RATES_MBIT_S[1] and _RTTS_MS[0] <= rtt_ms <= _RTTS_MS[1]
    )
    return _das(rate_mbit_s, rtt_ms) if within else None


def why_none(name: str, known: Iterable[str] = tuple(NETWORKS_BY_NAME)) -> str:
    """Return why `get_network` knows no such name: a cell's bounds, or similar names."""
    if _OF_GRID.fullmatch(name) is None:
        return unknown("network", name, known)
    return (
        f"`{name}`: das-RATE-RTT takes a rate from {_RATES_MBIT_S[0]:g} to {_RATES_MBIT_S[1]:.0f} "
        f"Mbit/s and a round trip from {_RTTS_MS[0]:g} to {_RTTS_MS[1]:.0f} ms"
    )


def find_network(name: str) -> Network:
    """Return the network of a name as `get_network` does.

    Raises `NetworkError` if there is none.
    """
    if (network := get_network(name)) is None:
        raise NetworkError(
            f"--network: {why_none(name)} (all: eyelevel list networks; das-RATE-RTT is one at "
            "any Mbit/s and ms)"
        )
    return network
