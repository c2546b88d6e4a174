"""Mahimahi's log of mm-link: comments at its head, then one event per line, in milliseconds.

`TIME + BYTES` a packet arrived, `TIME - BYTES DELAY` one left after DELAY, `TIME # BYTES` an
opportunity passed, used or not, `TIME d PACKETS BYTES` packets were dropped. Its sizes include four
bytes of the TUN device in every packet and opportunity: they are returned as they are.
"""

import numpy as np

from eyelevel.analysis.pathlog.direction import LENGTH_MS_MAX, Capacity, DirectionLog
from eyelevel.base.errors import PathLogError

_BASE = "# base timestamp:"
_NUMBERS_AFTER = {"+": 1, "-": 2, "#": 1, "d": 2}
_DIGITS_MAX = 15
"""The most digits: longer numbers of milliseconds or bytes are damage, and their sums would
overflow."""


def read_mahimahi(content: bytes, name: str) -> DirectionLog:
    """Return a direction. Raises PathLogError with file and line for any other line."""
    events: dict[str, list[tuple[int, ...]]] = {sign: [] for sign in _NUMBERS_AFTER}
    base_ms: int | None = None
    direction = name
    for number, line in enumerate(content.decode("ascii", errors="replace").splitlines(), start=1):
        if line.startswith(_BASE):
            base_ms = _parse_integer(line.removeprefix(_BASE).strip(), name, number)
        elif line.startswith("#"):
            direction = next((w for w in ("uplink", "downlink") if f"({w})" in line), direction)
        elif line:
            sign, values = _parse_event(line.split(), name, number)
            events[sign].append(values)
    if not any(events.values()):
        raise PathLogError(f"{name}: it holds no event of a packet; give a log of mm-link")
    first_ms = min(values[0][0] for values in events.values() if values)
    start_ms = first_ms if base_ms is None else base_ms
    last_ms = max(value[0] for values in events.values() for value in values)
    if last_ms - start_ms > LENGTH_MS_MAX:
        raise PathLogError(
            f"{name}: an event {last_ms - start_ms} ms after the start, over 30 days; the log is "
            "damaged, or of several runs; give the log of one"
        )
    columns = {
        sign: np.array(values, dtype=np.int64).reshape(len(values), 1 + _NUMBERS_AFTER[sign])
        for sign, values in events.items()
    }
    seconds = {sign: (column[:, 0] - start_ms) / 1e3 for sign, column in columns.items()}
    drops = int(columns["d"][:, 1].sum())
    return DirectionLog(
        name=direction,
        arrived_s=seconds["+"],
        arrived_bytes=columns["+"][:, 1],
        departed_s=seconds["-"],
        departed_bytes=columns["-"][:, 1],
        delay_ms=columns["-"][:, 2].astype(np.float64),
        dropped_s=seconds["d"],
        drops={"queue": drops} if drops else {},
        capacity=Capacity(seconds["#"], bytes=columns["#"][:, 1]),
    )


def _parse_event(words: list[str], name: str, number: int) -> tuple[str, tuple[int, ...]]:
    sign = words[1] if len(words) > 1 else ""
    if len(words) != 2 + _NUMBERS_AFTER.get(sign, -9):
        raise PathLogError(
            f"{name}:{number}: `{' '.join(words)[:40]}` is not an event of mm-link (`TIME + "
            "BYTES`, `TIME - BYTES DELAY`, `TIME # BYTES`, `TIME d PACKETS BYTES`); give a "
            "path's log"
        )
    numbers = (words[0], *words[2:])
    return sign, tuple(_parse_integer(word, name, number) for word in numbers)


def _parse_integer(text: str, name: str, number: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise PathLogError(f"{name}:{number}: `{text[:40]}` is not a whole number; log it again")
    if len(text) > _DIGITS_MAX:
        raise PathLogError(
            f"{name}:{number}: `{text[:40]}` is too large; it is damaged, so log it again"
        )
    return int(text)
