"""Define one cell of the yardstick: a network, a pair of stacks, and each one's transfers."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

from eyelevel.analysis.stats.estimate import Estimate, undetermined, welch_estimate
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.validation.bulk import Bulk

LOSSES_MIN = 100
"""The fewest pooled losses over a lossy network; with fewer, a cell shows little of their
effect."""


@dataclass(frozen=True)
class Side:
    """One stack of a cell; medians over its runs.

    Goodput counts the body, `corrected_bit_s` also the headers' share. `retransmitted_share` and
    `lost_outside_packets` pool all runs' packets; `lateness_us_p99` is that of the path in the
    worst run; `failed_runs` broke off and are not in the medians.
    """

    stack: str
    goodput_bit_s: float
    corrected_bit_s: float
    retransmitted_packets: int
    retransmitted_share: float
    queue_delay_ms_p50: float | None
    queue_delay_ms_p95: float | None
    lateness_us_p99: float | None
    lost_outside_packets: int
    failed_runs: int
    runs: tuple[float, ...]

    @classmethod
    def of(cls, stack: str, moved: Sequence[Bulk], share: float, failed: int) -> Self:
        """Summarise a stack's runs.

        `share` is the body's share of the bytes on the wire, `failed` the number of further runs
        that broke off.
        """
        sent = sum(transfer.sent_packets for transfer in moved)
        repeated = sum(transfer.retransmitted_packets for transfer in moved)
        goodput = statistics.median(transfer.goodput_bit_s for transfer in moved)
        late = [us for transfer in moved if (us := transfer.lateness_us_p99) is not None]
        return cls(
            stack=stack,
            goodput_bit_s=goodput,
            corrected_bit_s=goodput / share,
            retransmitted_packets=repeated,
            retransmitted_share=repeated / sent if sent else 0.0,
            queue_delay_ms_p50=_median([transfer.queue_delay_ms_p50 for transfer in moved]),
            queue_delay_ms_p95=_median([transfer.queue_delay_ms_p95 for transfer in moved]),
            lateness_us_p99=max(late, default=None),
            lost_outside_packets=sum(transfer.lost_outside_packets for transfer in moved),
            failed_runs=failed,
            runs=tuple(transfer.goodput_bit_s / share for transfer in moved),
        )


@dataclass(frozen=True)
class Cell:
    """One network and one pair.

    `ratio`: QUIC's corrected goodput over TCP's, geometric means, with its 95 % interval.
    `few_losses`: fewer than LOSSES_MIN pooled over a lossy network.
    """

    network: str
    loss: float
    congestion_control: str
    tcp: Side
    quic: Side
    ratio: Estimate
    few_losses: bool

    @classmethod
    def of(cls, network: str, loss: float, control: str, tcp: Side, quic: Side) -> Self:
        """Compare the two sides; `loss` is the probability of losing a packet, one way."""
        losses = min(tcp.retransmitted_packets, quic.retransmitted_packets)
        few = loss > 0 and losses < LOSSES_MIN
        return cls(network, loss, control, tcp, quic, ratio_of(quic.runs, tcp.runs), few)

    def as_json(self) -> JsonObject:
        """Return the JSON of a cell (docs/reference/yardstick.md)."""
        return asdict(self) | {"ratio": self.ratio.as_json()}

    @classmethod
    def of_json(cls, found: JsonMapping) -> Self:
        """Return the cell of a JSON object. Raises KeyError or TypeError for another form."""
        sides = {
            name: Side(**{**found[name], "runs": tuple(found[name]["runs"])})
            for name in ("tcp", "quic")
        }
        return cls(**{**found, **sides, "ratio": Estimate.of_json(found["ratio"])})


def ratio_of(quic: Sequence[float], tcp: Sequence[float]) -> Estimate:
    """Return the ratio of geometric means with Welch's interval on logarithms."""
    if not all(goodput > 0 for goodput in (*quic, *tcp)):
        return undetermined("a run moved nothing")
    if min(len(quic), len(tcp)) < 2:
        ratio = statistics.geometric_mean(quic) / statistics.geometric_mean(tcp)
        return undetermined("one run shows no spread", value=ratio)
    on_logs = welch_estimate(*([math.log(goodput) for goodput in side] for side in (quic, tcp)))
    value, low, high = (math.exp(x or 0.0) for x in (on_logs.value, on_logs.low, on_logs.high))
    return Estimate(value, low, high)


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
