"""What became of each packet of a logged direction: the `fates` of another path."""

import numpy as np

from eyelevel.errors import PathLogError
from eyelevel.pathlog.own import ARRIVAL, DROP, LOST, RECORD, RELEASE
from eyelevel.pathlog.own_head import read_head

REFUSED = 10
"""Released, though its receiver's device did not take it."""


def fates_of(content: bytes, name: str) -> list[float | None]:
    """For each packet in the order of arrival its whole delay in ms, None where it was dropped.

    Of a duplicated packet the first copy counts. Packets that were still inside at the end, whose
    fate nobody knows, are left out. Raises PathLogError for a log with gaps.
    """
    line, _, body = content.partition(b"\n")
    read_head(line, name)
    whole = body[: len(body) // RECORD.itemsize * RECORD.itemsize]
    records = np.frombuffer(whole, dtype=RECORD)
    kinds = records["kind"]
    if (kinds == LOST).any():
        raise PathLogError(f"{name}: records are missing, so fates are, too; log to a faster disk")
    arrivals = records[kinds == ARRIVAL]
    arrived_ns = dict(zip(arrivals["packet"].tolist(), arrivals["at_ns"].tolist(), strict=True))
    fates: dict[int, float | None] = {}
    for packet in records[kinds == DROP]["packet"].tolist():
        fates[packet] = None
    left = records[(kinds == RELEASE) | (kinds == REFUSED)]
    for packet, at_ns in zip(left["packet"].tolist(), left["at_ns"].tolist(), strict=True):
        delay_ms = (at_ns - arrived_ns[packet]) / 1e6
        before = fates.get(packet)
        fates[packet] = delay_ms if before is None else min(before, delay_ms)
    # What is still inside stands at the end, but for what others overtook.
    count = next((n for n in range(len(arrivals)) if n not in fates), len(arrivals))
    return [fates[packet] for packet in range(count)]
