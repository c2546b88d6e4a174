"""Read CellReplay's light recordings: short packet trains, each with its delay.

A line is `AT DELAY OPPORTUNITY ...`, numbers separated by single spaces: when the train was sent,
the one-way delay of its first packet, and when each packet arrived relative to the first, in
milliseconds (Sentosa et al., NSDI 2025; `docs/reference/cell.md`). The same recordings are refused
as by the stage `cell`.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.from_outside.number_columns import (
    first_line,
    lines_without_ends,
    numbers,
    pieces_of_lines,
)
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.traces.mahimahi import MS_MAX

OPPORTUNITIES_MAX = 10_000
"""Maximum number of opportunities of a train; a short one has fewer."""
DELAY_MS_MAX = 60_000.0
PATH_MS_MAX = 1.8e13
"""Maximum time, ms: the path counts nanoseconds in 64 bits."""

_SPACE = 32
_NUMBER = rb"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
LINE = re.compile(rb"%b(?: %b){2,}" % (_NUMBER, _NUMBER))
_AS = "write `AT DELAY OPPORTUNITY ...` in milliseconds, single spaces between"


@dataclass(frozen=True)
class Light:
    """A light recording: its trains in order; the last one's time is the recording's length."""

    at_ms: NDArray[np.float64]
    delay_ms: NDArray[np.float64]
    packets: NDArray[np.int64]


def parse_light(content: bytes, source: Source) -> Light:
    """Parse the trains. Raises the source's error with the line of the first invalid one."""
    text = lines_without_ends(content)
    if not text or text.translate(None, b"0123456789. \n"):
        raise _no_train(text, source)
    pieces: list[Light] = []
    done = 0
    for piece in pieces_of_lines(text):
        found = _of_piece(piece, done, source)
        if found is None:
            raise _no_train(text, source)
        pieces.append(found)
        done += len(found.at_ms)
    at_ms = np.concatenate([piece.at_ms for piece in pieces])
    later = np.append(True, np.diff(_whole_ns(at_ms)) > 0)
    _refuse(~later, "the train is not later than the one before", "sort them by time", 0, source)
    if len(at_ms) < 2:
        raise source.refusal(
            "a light recording of one train", "1", "give two: the last one's time is its length"
        )
    return Light(
        at_ms,
        np.concatenate([piece.delay_ms for piece in pieces]),
        np.concatenate([piece.packets for piece in pieces]),
    )


def _of_piece(text: bytes, done: int, source: Source) -> Light | None:
    """Parse the trains of some lines after `done` earlier ones.

    Returns None if a line is invalid.
    """
    signs = np.frombuffer(text + b"\n", np.uint8)
    ends = np.flatnonzero(signs <= _SPACE)
    # A number is missing between two separators, or at the start.
    if ends[0] == 0 or (np.diff(ends) == 1).any():
        return None
    found = numbers(text, " ", float).astype(np.float64, copy=False)
    if len(found) != len(ends):
        return None
    last = np.flatnonzero(signs[ends] != _SPACE)
    first = np.concatenate(([0], last[:-1] + 1))
    packets = last - first - 1
    wrong = (packets < 1) | (packets > OPPORTUNITIES_MAX)
    _refuse(wrong, f"a train of no packets, or of over {OPPORTUNITIES_MAX}", _AS, done, source)
    at_ms, delay_ms = found[first], found[first + 1]
    far = np.logical_or.reduceat(found >= PATH_MS_MAX, first)
    far |= (at_ms > MS_MAX) | (delay_ms > DELAY_MS_MAX)
    _refuse(
        far, "a train beyond 30 days, or a delay beyond 60 s", "write milliseconds", done, source
    )
    back = np.append(False, np.diff(_whole_ns(found)) < 0)
    back[first] = back[first + 1] = back[first + 2] = False
    wrong = np.logical_or.reduceat(back, first)
    fault = "its packets do not come one after the other"
    _refuse(wrong, fault, "sort them by time", done, source)
    return Light(at_ms, delay_ms, packets)


def _whole_ns(ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return nanoseconds, rounded as the path rounds them."""
    return np.floor(ms * 1e6 + 0.5)


def _no_train(text: bytes, source: Source) -> Exception:
    row = max(0, first_line(text, lambda line: LINE.fullmatch(line) is not None))
    shown = excerpt(text.split(b"\n", row + 1)[row].decode("utf-8", "replace"))[:40]
    return source.refusal(f"`{shown}` is no train", str(row + 1), _AS)


def _refuse(wrong: NDArray[np.bool_], fault: str, remedy: str, done: int, source: Source) -> None:
    if wrong.any():
        raise source.refusal(fault, str(done + int(np.argmax(wrong)) + 1), remedy)
