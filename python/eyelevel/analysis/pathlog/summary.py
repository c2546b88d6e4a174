"""A direction in numbers: how full the link was, and how long packets waited for it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.pathlog.direction import DirectionLog
from eyelevel.analysis.pathlog.series import capacity_bytes


@dataclass(frozen=True)
class DirectionSummary:
    """Numbers from the first arrival to the last departure; None if there was nothing to measure.

    `utilisation` is the carried share of what the link could have carried in that time.
    """

    direction: str
    duration_s: float
    packets: int
    departed_packets: int
    dropped: dict[str, int]
    marked_packets: int
    throughput_bit_s: float | None
    capacity_bit_s: float | None
    utilisation: float | None
    queue_delay_ms_mean: float | None
    queue_delay_ms_p50: float | None
    queue_delay_ms_p95: float | None
    queue_delay_ms_p99: float | None
    queue_delay_ms_max: float | None
    lateness_us_p50: float | None
    lateness_us_p99: float | None
    lateness_us_max: float | None
    waited_us_p50: float | None
    waited_us_p99: float | None
    waited_us_max: float | None
    unstamped_reads: int
    log_lost_records: int


def summarise(log: DirectionLog) -> DirectionSummary:
    """Summarise a direction.

    Throughput counts what left the link; delays include the packet's own transmission.
    """
    duration_s = throughput = capacity = utilisation = None
    if len(log.arrived_s) and len(log.departed_s):
        first, last = float(log.arrived_s.min()), float(log.departed_s.max())
        duration_s = last - first
    if duration_s:
        carried = float(log.departed_bytes.sum())
        throughput = carried * 8 / duration_s
        if log.capacity is not None:
            offered = float(np.diff(capacity_bytes(log.capacity, np.array([first, last])))[0])
            capacity = offered * 8 / duration_s
            utilisation = carried / offered if offered else None
    delays = _spread(log.delay_ms if log.capacity is not None else np.empty(0))
    late, waited = _spread(log.late_us), _spread(log.waited_us)
    return DirectionSummary(
        direction=log.name,
        duration_s=duration_s or 0.0,
        packets=len(log.arrived_s),
        departed_packets=len(log.departed_s),
        dropped=log.drops,
        marked_packets=log.marked,
        throughput_bit_s=throughput,
        capacity_bit_s=capacity,
        utilisation=utilisation,
        queue_delay_ms_mean=delays["mean"],
        queue_delay_ms_p50=delays["p50"],
        queue_delay_ms_p95=delays["p95"],
        queue_delay_ms_p99=delays["p99"],
        queue_delay_ms_max=delays["max"],
        lateness_us_p50=late["p50"],
        lateness_us_p99=late["p99"],
        lateness_us_max=late["max"],
        waited_us_p50=waited["p50"],
        waited_us_p99=waited["p99"],
        waited_us_max=waited["max"],
        unstamped_reads=log.unstamped_reads,
        log_lost_records=log.lost_records,
    )


def _spread(values: NDArray[np.float64]) -> dict[str, float | None]:
    if not len(values):
        return dict.fromkeys(("mean", "p50", "p95", "p99", "max"))
    p50, p95, p99 = (float(percentile) for percentile in np.percentile(values, (50, 95, 99)))
    mean, highest = float(values.mean()), float(values.max())
    return {"mean": mean, "p50": p50, "p95": p95, "p99": p99, "max": highest}
