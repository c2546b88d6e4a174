"""Networks: one table of presets, and how a network becomes the lab's path."""

import math
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Network:
    """An emulated access network.

    Rates in bit/s, `rtt_ms_min` the round trip with empty queues, `queue_ms` the drop-tail queue of
    each direction, in time at the direction's rate. `loss_down` and `loss_up` are the chances that
    one packet is lost in that direction.
    """

    name: str
    rate_down_bit_s: int
    rate_up_bit_s: int
    rtt_ms_min: float
    queue_ms: float
    loss_down: float = 0.0
    loss_up: float = 0.0

    def settings(self) -> dict[str, Any]:
        """Everything but the name: what a trial's hash covers."""
        return {key: value for key, value in asdict(self).items() if key != "name"}

    def bandwidth_delay_product_bytes(self) -> int:
        """The larger direction's rate times the minimum RTT."""
        rate_bit_s = max(self.rate_down_bit_s, self.rate_up_bit_s)
        return math.ceil(rate_bit_s * self.rtt_ms_min / 8000)


def loss_of_each_direction(loss_two_way: float) -> float:
    """The loss of each direction when a request or its response is lost with `loss_two_way`.

    Both arrive with (1 - x)^2 = 1 - loss_two_way (Wolsing et al. 2019, section 3.2).
    """
    # Without the case, 0 would come out as -0.0 and stand so in hashes and tables.
    return -math.expm1(math.log1p(-loss_two_way) / 2) if loss_two_way else 0.0


def _paper(
    name: str, down_mbit_s: float, up_mbit_s: float, rtt_ms: float, loss_two_way: float, queue: int
) -> Network:
    loss = loss_of_each_direction(loss_two_way)
    down, up = round(down_mbit_s * 1e6), round(up_mbit_s * 1e6)
    return Network(name, down, up, rtt_ms, queue, loss, loss)


# Wolsing et al. 2019, table 2; `3g` from the same authors' slides. Down and up in Mbit/s, minimum
# RTT in ms, two-way loss, queue in ms.
NETWORKS: tuple[Network, ...] = (
    _paper("dsl", 25, 5, 24, 0, 12),
    _paper("lte", 10.5, 2.8, 74, 0, 200),
    _paper("3g", 3.54, 3.54, 94, 0.00048, 200),
    _paper("da2gc", 0.468, 0.468, 262, 0.033, 200),
    _paper("mss", 1.89, 1.89, 760, 0.06, 200),
)

NETWORKS_BY_NAME: dict[str, Network] = {network.name: network for network in NETWORKS}


def lab_path(network: Network) -> dict[str, Any]:
    """The lab's `path` (spec/lab-events.md): stages in the order in which a packet meets them.

    Downstream delay, then queue and rate, then loss, as in the paper; upstream the reverse. The
    minimum RTT is split evenly. A direction without loss has no loss stage.
    """
    delay = {"stage": "delay", "delay_ms": network.rtt_ms_min / 2}
    return {
        "down": [delay, _rate(network.rate_down_bit_s, network), *_loss(network.loss_down)],
        "up": [*_loss(network.loss_up), _rate(network.rate_up_bit_s, network), delay],
    }


def _rate(rate_bit_s: int, network: Network) -> dict[str, Any]:
    queue = {"discipline": "droptail", "limit_ms": network.queue_ms}
    return {"stage": "rate", "rate_bit_s": rate_bit_s, "queue": queue}


def _loss(probability: float) -> list[dict[str, Any]]:
    return [{"stage": "loss", "probability": probability}] if probability > 0 else []
