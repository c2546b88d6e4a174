"""One direction of a path, from its log."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.lab_tables import LIMITS

Times = NDArray[np.float64]
Sizes = NDArray[np.int64]

LENGTH_MS_MAX = int(LIMITS["opportunity_ms"].max)
"""The longest log: 30 days, as for a trace; a longer one is damaged."""


@dataclass(frozen=True)
class Capacity:
    """The link's capacity: `bytes` at each of `at_s`, or `bit_s` from each of them on.

    With `bit_s` the first piece begins at `at_s[0]` and the last one never ends.
    """

    at_s: Times
    bytes: Sizes | None = None
    bit_s: Times | None = None


@dataclass(frozen=True)
class DirectionLog:
    """The packets of one direction; all times in seconds since the log's first event.

    `delay_ms` of a departure is the time since the packet arrived at the link: waiting and
    transmission. `capacity` is None if the direction has no link. `late_us` is the lateness of each
    release against the model's time, `waited_us` the time that a packet waited in its device before
    it was read, by the kernel's stamp; `unstamped_reads` had no stamp. Mahimahi's logs have none of
    these.
    """

    name: str
    arrived_s: Times
    arrived_bytes: Sizes
    departed_s: Times
    departed_bytes: Sizes
    delay_ms: Times
    dropped_s: Times
    drops: dict[str, int]
    capacity: Capacity | None
    marked: int = 0
    lost_records: int = 0
    late_us: Times = field(default_factory=lambda: np.empty(0))
    waited_us: Times = field(default_factory=lambda: np.empty(0))
    unstamped_reads: int = 0

    @property
    def end_s(self) -> float:
        """The time of the last arrival, departure or drop."""
        columns = (self.arrived_s, self.departed_s, self.dropped_s)
        return float(max((at_s[-1] for at_s in columns if len(at_s)), default=0.0))
