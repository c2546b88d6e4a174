"""A measured level in words, for commands and reports.

A level is a dictionary, as in `levels` of `environment.json`.
"""

from collections.abc import Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import CLASS_NAMES, Class
from eyelevel.calibration.level.text.row import Row, absent, format_row

COMMAND = "eyelevel validate level"
NOT_THERE = "Level: not measured on this machine"
WORDS = {
    "equal": "the whole 95 % interval of the difference lies within the margin",
    "inherent, the browser's": "caused by an RFC or by a setting of the browser, and within the "
    "bound that is expected of it",
    "unequal": "beyond the margin, or beyond that bound",
    "unknown": "the interval is too wide to tell",
    "not there": "one of the two stacks has no such aspect",
}
"""The meaning of each class of a level."""
MEANING = " ".join(f"{word}: {meaning}." for word, meaning in WORDS.items())

NAMED_MAX = 6
"""The most aspects in one sentence."""
REST: tuple[Class, ...] = ("equal", "inherent", "browser")
"""The classes whose aspects are counted and not named."""
BINARY_CHARACTERS = 8
VALUES_CHARACTERS_MAX = 40
"""The longest values in a sentence; longer ones, such as the priorities of all kinds, are in tables
only."""

Level = JsonMapping


def unequal_sentence(level: Level, aspects_max: int) -> str:
    """Return a phrase with a pair's unequal aspects and both values; empty if there are none."""
    return _sentence(level, "unequal", aspects_max)


def unknown_sentence(level: Level, aspects_max: int) -> str:
    """Return a phrase with a pair's unknown aspects that have both values; empty without any."""
    return _sentence(level, "unknown", aspects_max)


def _sentence(level: Level, word: str, aspects_max: int) -> str:
    named: dict[str, list[str]] = {}
    for row in level["rows"]:
        if row["word"] == word and row["difference"]["value"] is not None:
            said = format_row(row)
            values = f" {said.first} and {said.with_unit(said.second)}"
            if len(values) > VALUES_CHARACTERS_MAX:
                values = ""
            named.setdefault(row["aspect"], []).append(f"{row['scenario']}{values}")
    phrases = [f"{aspect} ({'; '.join(places)})" for aspect, places in named.items()]
    if len(phrases) > aspects_max:
        phrases = [*phrases[:aspects_max], f"{len(phrases) - aspects_max} more"]
    return ", ".join(phrases)


def verdict(level: Level) -> str:
    """Return whether a pair is level, in one sentence with the rows of each class.

    Unequal and unknown aspects are named.
    """
    pair = f"{level['first']} and {level['second']}"
    there = [row for row in level["rows"] if not absent(row)]
    by_word = {word: [row for row in there if row["word"] == word] for word in CLASS_NAMES}
    parts = [_count(by_word["unequal"], "unequal"), _count(by_word["unknown"], "unknown")]
    parts += [f"{len(by_word[word])} {CLASS_NAMES[word]}" for word in REST if by_word[word]]
    if missing := len(level["rows"]) - len(there):
        parts.append(f"{missing} of something that a stack does not have")
    counts = f"of {len(level['rows'])} rows {', '.join(parts)}"
    if by_word["unequal"]:
        return f"{pair} are not level: {counts}."
    if by_word["unknown"]:
        return f"Whether {pair} are level is not known: {counts}."
    return f"{pair} are level: {counts}."


def _count(rows: Sequence[Row], word: str) -> str:
    """Return the number of rows of a class, with their aspects."""
    if not rows:
        return f"none {word}"
    names = list(dict.fromkeys(row["aspect"] for row in rows))
    if len(names) > NAMED_MAX:
        names = [*names[:NAMED_MAX], f"{len(names) - NAMED_MAX} more"]
    return f"{len(rows)} {word} ({', '.join(names)})"


def describe_measurement(level: Level) -> str:
    """Return the build, browser and runs of a measurement."""
    build = f"eyelevel {level['eyelevel']} (binary {level['binary'][:BINARY_CHARACTERS]})"
    browser = level["browser"] or "no browser"
    runs: dict[str, Sequence[int]] = {row["scenario"]: row["runs"] for row in level["rows"]}
    browsers = " and ".join(
        f"{sum(run[side] for run in runs.values())} of {level[name]}"
        for side, name in enumerate(("first", "second"))
    )
    return (
        f"Measured on this machine, runs: {browsers}. Linux {level['kernel']}, {build}, {browser}"
    )
