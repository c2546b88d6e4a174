"""A measured level in words: for command and report.

A level is a dictionary as `environment.json` keeps it under `levels`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from eyelevel.level.classes import CLASS_NAMES
from eyelevel.level.explained import NOT_MEASURED, value_said

COMMAND = "eyelevel validate level"
NOT_THERE = "Level: not measured on this machine"
MEANING = (
    "equal: the whole 95 % interval of the difference lies within the margin. inherent, the "
    "browser's: an RFC's or a browser's setting, within the bound that is expected of it. unequal: "
    "beyond. unknown: the interval is too wide to tell."
)

Level = Mapping[str, Any]
Row = Mapping[str, Any]


def level_row(row: Row) -> list[str]:
    """Aspect, scenario, word, both values, the difference with its interval, margin and why; last
    what it moves."""
    return [
        row["aspect"],
        row["scenario"],
        CLASS_NAMES[row["word"]],
        value_said(row["first"], row["unit"]),
        value_said(row["second"], row["unit"]),
        _interval(row),
        "exact" if row["margin"] == 0 else f"±{value_said(row['margin'], row['unit'])}",
        why(row),
        _effect(row),
    ]


COLUMNS = ("aspect", "where", "finding", "{first}", "{second}", "difference", "margin", "why")


def why(row: Row) -> str:
    """By nature, or by which settings the stacks differ."""
    if row["because"]:
        return str(row["because"])
    if row["settings"] and row["word"] in ("unequal", "unknown"):
        return "by the stacks' " + ", ".join(f"`{name}`" for name in row["settings"])
    if row["difference"] is None:
        told = min(row["runs"]) and None in (row["first"], row["second"])
        return "there is none" if told else f"runs: {row['runs'][0]} and {row['runs'][1]}"
    return ""


def unequal_sentence(level: Level, aspects_max: int) -> str:
    """What a reader of results must know of a pair: its unequal aspects, the values of both; empty
    where there are none."""
    return _sentence(level, "unequal", aspects_max)


def unknown_sentence(level: Level, aspects_max: int) -> str:
    """Aspects of a pair of which both have a value and that are unknown; empty where there are
    none."""
    return _sentence(level, "unknown", aspects_max)


def _sentence(level: Level, word: str, aspects_max: int) -> str:
    named: dict[str, list[str]] = {}
    for row in level["rows"]:
        if row["word"] == word and row["difference"] is not None:
            first, second = (value_said(row[side], row["unit"]) for side in ("first", "second"))
            unit = f" {row['unit']}"
            if second.endswith(unit):  # once is enough
                first = first.removesuffix(unit)
            named.setdefault(row["aspect"], []).append(f"{row['scenario']} {first} and {second}")
    told = [f"{aspect} ({'; '.join(places)})" for aspect, places in named.items()]
    if len(told) > aspects_max:
        told = [*told[:aspects_max], f"{len(told) - aspects_max} more"]
    return ", ".join(told)


def counts(levels: Sequence[Level]) -> dict[str, int]:
    """How many rows have each word, in the words' order."""
    every = [row["word"] for level in levels for row in level["rows"]]
    return {CLASS_NAMES[word]: every.count(word) for word in CLASS_NAMES if word in every}


def _interval(row: Row) -> str:
    if row["difference"] is None:
        return NOT_MEASURED
    if isinstance(row["first"], str) or isinstance(row["second"], str):
        return "the same" if row["high"] == 0 else "another"
    told = [value_said(row[key], row["unit"]) for key in ("difference", "low", "high")]
    if row["low"] == row["high"]:
        return told[0]
    unit = f" {row['unit']}" if row["unit"] not in ("", "share") else ""
    return f"{told[0]} ({told[1].removesuffix(unit)} to {told[2].removesuffix(unit)})"


def _effect(row: Row) -> str:
    effect = row.get("effect_ms")
    told = (
        f"{name} {value:+.0f} ms ({low:+.0f} to {high:+.0f})"
        for name, (value, low, high) in (effect or {}).items()
    )
    return "; ".join(told)
