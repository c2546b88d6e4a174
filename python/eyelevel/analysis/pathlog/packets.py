"""Single packets of our own log (spec/path-log.md): arrivals at a direction, and their fates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.pathlog.reading import ARRIVAL, DROP, LOST, RELEASE, read_records
from eyelevel.base.errors import PathLogError

REFUSED = 10
"""The reason of packets that were released but refused by the receiver's device."""

NOT_ECT = 0


@dataclass(frozen=True)
class Arrivals:
    """The packets that arrived, one row each: `CLOCK_MONOTONIC`, IP bytes, ECN bits, flow hash.

    `released_ns` is the model's time, 0 if a packet was dropped or is still inside. `dropped` has
    the rows of packets that the path did not deliver.
    """

    at_ns: NDArray[np.int64]
    wire_bytes: NDArray[np.int64]
    ecn: NDArray[np.int64]
    flow: NDArray[np.int64]
    released_ns: NDArray[np.int64]
    dropped: NDArray[np.int64]

    @property
    def capable_share(self) -> float | None:
        """The share of packets that may be ECN-marked; None without packets."""
        return float((self.ecn != NOT_ECT).mean()) if len(self.ecn) else None

    def since(self, at_ns: int) -> "Arrivals":
        """Return the packets that arrived from then on."""
        kept = self.at_ns >= at_ns
        rows = np.cumsum(kept) - 1
        return Arrivals(
            at_ns=self.at_ns[kept],
            wire_bytes=self.wire_bytes[kept],
            ecn=self.ecn[kept],
            flow=self.flow[kept],
            released_ns=self.released_ns[kept],
            dropped=rows[self.dropped[kept[self.dropped]]],
        )


def read_arrivals(content: bytes, name: str) -> Arrivals:
    """Return the arrivals of our own log. Raises PathLogError for another kind."""
    _, records = read_records(content, name)
    arrivals = records[records["kind"] == ARRIVAL]
    releases = records[records["kind"] == RELEASE]
    released_ns = np.zeros(len(arrivals), dtype=np.int64)
    released_ns[releases["packet"].astype(np.int64)] = releases["at_ns"].astype(np.int64)
    return Arrivals(
        at_ns=arrivals["at_ns"].astype(np.int64),
        wire_bytes=arrivals["wire_bytes"].astype(np.int64),
        ecn=arrivals["reason"].astype(np.int64),
        flow=(arrivals["value"] & np.uint64(0xFFFFFFFF)).astype(np.int64),
        released_ns=released_ns,
        dropped=records[records["kind"] == DROP]["packet"].astype(np.int64),
    )


def fates_of(content: bytes, name: str) -> list[float | None]:
    """Return each packet's total delay in ms, in the order of arrival; None if it was dropped.

    This is the `fates` of another path. Of a duplicated packet the first copy counts. Packets that
    were still inside at the end, whose fate is unknown, are left out. Raises PathLogError for a log
    with gaps.
    """
    _, records = read_records(content, name)
    kinds = records["kind"]
    if (kinds == LOST).any():
        raise PathLogError(
            f"{name}: records are missing, so fates are missing, too; log to a faster disk"
        )
    arrivals = records[kinds == ARRIVAL]
    arrived_ns = dict(zip(arrivals["packet"].tolist(), arrivals["at_ns"].tolist(), strict=True))
    fates: dict[int, float | None] = {}
    for packet in records[kinds == DROP]["packet"].tolist():
        fates[packet] = None
    releases = records[(kinds == RELEASE) | (kinds == REFUSED)]
    for packet, at_ns in zip(releases["packet"].tolist(), releases["at_ns"].tolist(), strict=True):
        delay_ms = (at_ns - arrived_ns[packet]) / 1e6
        before = fates.get(packet)
        fates[packet] = delay_ms if before is None else min(before, delay_ms)
    # Packets still inside are the last ones, apart from those that others overtook.
    count = next((n for n in range(len(arrivals)) if n not in fates), len(arrivals))
    return [fates[packet] for packet in range(count)]
