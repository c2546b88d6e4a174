"""The packets that came to a direction of a path, one row each (spec/path-log.md)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.pathlog.own import ARRIVAL, DROP, RECORD, RELEASE
from eyelevel.pathlog.own_head import read_head

NOT_ECT = 0


@dataclass(frozen=True)
class Arrivals:
    """Columns of one length: `CLOCK_MONOTONIC`, IP bytes, the two ECN bits, the flow's hash.

    `released_ns`: by the model, 0 where a packet was dropped or still inside. `dropped`: places of
    packets that the path let nobody have.
    """

    at_ns: NDArray[np.int64]
    wire_bytes: NDArray[np.int64]
    ecn: NDArray[np.int64]
    flow: NDArray[np.int64]
    released_ns: NDArray[np.int64]
    dropped: NDArray[np.int64]

    @property
    def capable_share(self) -> float | None:
        """Packets that say that they may be marked; None where none came."""
        return float((self.ecn != NOT_ECT).mean()) if len(self.ecn) else None

    def since(self, at_ns: int) -> "Arrivals":
        """What came from then on."""
        kept = self.at_ns >= at_ns
        places = np.cumsum(kept) - 1
        return Arrivals(
            at_ns=self.at_ns[kept],
            wire_bytes=self.wire_bytes[kept],
            ecn=self.ecn[kept],
            flow=self.flow[kept],
            released_ns=self.released_ns[kept],
            dropped=places[self.dropped[kept[self.dropped]]],
        )


def read_arrivals(content: bytes, name: str) -> Arrivals:
    """Of our own log; raises PathLogError for another."""
    line, _, body = content.partition(b"\n")
    read_head(line, name)
    whole = body[: len(body) // RECORD.itemsize * RECORD.itemsize]
    records = np.frombuffer(whole, dtype=RECORD)
    came = records[records["kind"] == ARRIVAL]
    left = records[records["kind"] == RELEASE]
    released_ns = np.zeros(len(came), dtype=np.int64)
    released_ns[left["packet"].astype(np.int64)] = left["at_ns"].astype(np.int64)
    return Arrivals(
        at_ns=came["at_ns"].astype(np.int64),
        wire_bytes=came["wire_bytes"].astype(np.int64),
        ecn=came["reason"].astype(np.int64),
        flow=(came["value"] & np.uint64(0xFFFFFFFF)).astype(np.int64),
        released_ns=released_ns,
        dropped=records[records["kind"] == DROP]["packet"].astype(np.int64),
    )
