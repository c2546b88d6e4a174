"""Recognise the headings of tables: each column's quantity and unit.

All tables are read by `read_heading`. A heading is a name and a unit: `rtt_ms`, `RTT (ms)`, `down
Mbit/s`. Case is significant where it must be: `Mbps` are bits and `MBps` bytes, which are refused,
as is every unknown unit. A guessed unit would give a table that looks right and is off by a factor.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

_BRACKETED = re.compile(r"(.*?)\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])")
_UNIT_PARTS_MAX = 3
"""Maximum number of words in a unit: `Mbit per s`."""

_TIMES_MS = {
    **dict.fromkeys(("us", "µs", "usec", "microseconds"), 1e-3),
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds"), 1.0),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1e3),
}
_PREFIXES_MBIT = {"": 1e-6, "k": 1e-3, "m": 1.0, "g": 1e3}
# The letter of bits must be lower case: `MBPS` is ambiguous, and so is `mb/s`.
_RATE = re.compile(r"([kmg]?)(?:bits?(?:/s|/sec|/second|ps))|([kKmMgG]?)bps|([MG])b/s(?:ec)?")
_LIKE_A_RATE = re.compile(
    r"[kmgtp]?i?(?:bits?|bytes?|o|octets?|b|packets?|pkts?|p)(?:ps|/(?:s|sec|seconds?|ms|min|h))"
    r"|(?:[kmgt]i?|kilo|mega|giga)(?:bits?|bytes?|b)"
)
_LIKE_A_TIME = re.compile(
    r"[nuµm]?s(?:ecs?)?|(?:nano|micro|milli)(?:seconds?|s)|seconds?|min(?:ute)?s?|h(?:rs?|ours?)?"
    r"|days?|ticks?|jiffies|cycles|slots?"
)


@dataclass(frozen=True)
class Kind:
    """A kind of units.

    `factor` returns the factor of a known unit, `is_like` whether a text must be such a unit;
    `known` lists the known ones for messages.
    """

    factor: Callable[[str], float | None]
    is_like: Callable[[str], bool]
    known: str


def _time_ms(unit: str) -> float | None:
    return _TIMES_MS.get(unit.lower().replace("\u03bc", "µ"))


def _rate_mbit_s(unit: str) -> float | None:
    # With `bit` spelled out, case is not ambiguous.
    folded = unit.lower() if "bit" in unit.lower() else unit
    found = _RATE.fullmatch(folded)
    return _PREFIXES_MBIT[(found[1] or found[2] or found[3] or "").lower()] if found else None


def _share(unit: str) -> float | None:
    return 0.01 if unit.lower() in ("%", "percent", "pct") else None


TIME = Kind(_time_ms, lambda unit: _LIKE_A_TIME.fullmatch(unit.lower()) is not None, "us, ms, s")
DELAY = Kind(_time_ms, lambda unit: TIME.is_like(unit) and unit.lower() != "min", TIME.known)
"""Units of delay: like units of time, but without `min`, since `rtt_min` is the minimum."""
RATE = Kind(
    _rate_mbit_s,
    lambda unit: _LIKE_A_RATE.fullmatch(unit.lower()) is not None,
    "bit/s, kbit/s, Mbit/s, Gbit/s",
)
SHARE = Kind(_share, lambda unit: unit == "%", "%")
PLAIN = Kind(lambda _: None, lambda _: False, "none")
"""Numbers and words without a unit."""

WAYS = {"down": ("down", "downlink"), "up": ("up", "uplink")}
RATE_WORDS = ("rate", "throughput", "bandwidth")


def rate_words(way: str, *, alone: bool = False) -> frozenset[str]:
    """Return the names of a rate in one direction; `alone` includes names without a direction."""
    words = {f"{each}_{word}" for each, word in product(WAYS[way], RATE_WORDS)} | {*WAYS[way]}
    return frozenset(words | ({*RATE_WORDS, ""} if alone else set()))


@dataclass(frozen=True)
class Quantity:
    """A quantity that a column can hold.

    `words` are its names before a unit ("": the unit is the heading), and `bare` those without a
    unit, each with its factor.
    """

    name: str
    kind: Kind
    words: frozenset[str] = frozenset()
    bare: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A recognised column: its index, its factor, and its original heading."""

    index: int
    scale: float
    heading: str


def read_heading(
    cells: Sequence[str], quantities: Sequence[Quantity], line: str, source: Source
) -> dict[str, Column]:
    """Return the recognised columns by name of their quantity.

    Raises the source's error for an unknown unit, and for two columns of one quantity.
    """
    columns: dict[str, Column] = {}
    for index, cell in enumerate(cells):
        found = _recognise(cell, quantities)
        if found is None:
            if (unit := _unknown_unit(cell, quantities)) is not None:
                raise _unit_refusal(cell, *unit, line, source)
            continue
        quantity, scale = found
        if (other := columns.get(quantity.name)) is not None:
            fault = f"columns `{excerpt(other.heading)}` and `{excerpt(cell)}` for one thing"
            raise source.refusal(fault, line, "keep one of them")
        columns[quantity.name] = Column(index, scale, cell)
    return columns


def _recognise(cell: str, quantities: Sequence[Quantity]) -> tuple[Quantity, float] | None:
    for name, unit, _ in _readings(cell):
        for quantity in quantities:
            if not unit and name in quantity.bare:
                return quantity, quantity.bare[name]
            if unit and name in quantity.words:
                factor = quantity.kind.factor(unit)
                if factor is not None:
                    return quantity, factor
    return None


def _unknown_unit(cell: str, quantities: Sequence[Quantity]) -> tuple[str, Quantity] | None:
    for name, unit, is_bracketed in _readings(cell):
        for quantity in quantities:
            known = name in quantity.words or (bool(name) and name in quantity.bare)
            if known and unit and (quantity.kind.is_like(unit) or (is_bracketed and name)):
                return unit, quantity
    return None


def find_unit(cell: str, kind: Kind) -> str:
    """Return the known unit of a kind with which a heading of another tool ends; "" if none."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cell)
    units = (unit for _, unit, _ in _readings(words) if kind.factor(unit) is not None)
    return next(units, "")


def _readings(cell: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the ways to divide a heading into name and unit, and whether brackets separate them."""
    text = cell.strip().strip("\ufeff")
    if found := _BRACKETED.fullmatch(text):
        unit = _unit(_parts(found[2] or found[3] or ""))
        yield _name(_parts(found[1])), unit, True
        return
    parts = _parts(text)
    for length in range(min(_UNIT_PARTS_MAX, len(parts)) + 1):
        yield _name(parts[: len(parts) - length]), _unit(parts[len(parts) - length :]), False


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[\s_-]+", text.rstrip(":")) if part]


def _name(parts: Sequence[str]) -> str:
    words = [part.lower() for part in parts]
    return "_".join(words[:-1] if words[-1:] == ["in"] else words)


def _unit(parts: Sequence[str]) -> str:
    return "/".join(part for part in parts if part.lower() not in ("per", "in"))


def _unit_refusal(cell: str, unit: str, quantity: Quantity, line: str, source: Source) -> Exception:
    fault = f"column `{excerpt(cell)}`: the unit `{excerpt(unit)}` is not known"
    known = quantity.kind.known
    remedy = f"convert its values, and write one of {known} in its heading"
    if quantity.kind is PLAIN:
        remedy = "leave the unit out"
    elif quantity.kind is RATE and "b" in unit.lower():
        remedy += " (1 MB/s is 8 Mbit/s)"
    return source.refusal(fault, line, remedy)
