"""One row of the level in words. A row is a dictionary as in `environment.json` and `--json`.

The numbers of a row have the same number of digits, so that their differences can be checked by
eye; `--json` has all digits.
"""

from dataclasses import dataclass

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import Value
from eyelevel.calibration.level.number_text import digits_of, format_number, format_unit

Row = JsonMapping

NOTHING = "\N{EN DASH}"
_INTERVAL = ("value", "low", "high")


@dataclass(frozen=True)
class RowText:
    """The texts of a row, without units; `unit` has the unit. `difference` includes its
    interval."""

    first: str
    second: str
    difference: str
    margin: str
    unit: str

    def with_unit(self, told: str) -> str:
        """Return a number with its unit; any other text stays as it is."""
        return f"{told} {self.unit}" if self.unit and told[-1:].isdigit() else told


def format_row(row: Row) -> RowText:
    """Return both values, their difference and the margin."""
    unit = row["unit"]
    named = isinstance(row["first"], str) or isinstance(row["second"], str)
    numbers = [row["first"], row["second"], *(row["difference"][key] for key in _INTERVAL)]
    digits = 0 if named else digits_of(numbers, unit)
    margin = format_number(row["margin"], unit, digits_of([row["margin"]], unit))
    return RowText(
        _value(row["first"], unit, digits),
        _value(row["second"], unit, digits),
        _labels(row) if named else _interval(row, digits),
        "exact" if row["margin"] == 0 else f"±{margin}",
        format_unit(unit),
    )


def absent(row: Row) -> bool:
    """Return whether a stack lacks the aspect, such as priorities with HTTP/1.1.

    Also true if there were runs and none reported it.
    """
    if row["word"] == "absent":
        return True
    return bool(min(row["runs"])) and None in (row["first"], row["second"])


def why(row: Row, runs_min: int) -> str:
    """Return the reason for a row's class; empty if there is none.

    It is the expected range, the settings that differ, or why the class is unknown.
    """
    if row["because"]:
        return f"{'' if absent(row) else _format_allowed(row)}{row['because']}"
    reasons = []
    if row["word"] in ("unequal", "unknown"):
        reasons += [allowed] if (allowed := _format_allowed(row).removesuffix(": ")) else []
        if row["settings"]:
            reasons.append("settings apart: " + ", ".join(row["settings"]))
    if row["difference"]["value"] is None:
        reasons.append("nothing of the kind there" if absent(row) else _runs(row, runs_min))
    return "; ".join(reasons)


def effect(row: Row) -> str:
    """Return the effect of the aspect if it alone is switched; empty if that was not measured."""
    effects = []
    for name, moved in (row.get("effect_ms") or {}).items():
        value, low, high = (format_number(moved[key], "ms", 0, signed=True) for key in _INTERVAL)
        effects.append(f"{name} {value} ms ({low} to {high})")
    return "; ".join(effects)


def _value(value: Value | None, unit: str, digits: int) -> str:
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else format_number(value, unit, digits)


def _labels(row: Row) -> str:
    if row["difference"]["value"] is None:
        return NOTHING
    low, high = row["difference"]["low"], row["difference"]["high"]
    return "the same" if high == 0 else "another" if low else "not always the same"


def _interval(row: Row, digits: int) -> str:
    if row["difference"]["value"] is None:
        return NOTHING
    value, low, high = (
        format_number(row["difference"][key], row["unit"], digits, signed=True) for key in _INTERVAL
    )
    return value if low == high == value else f"{value} ({low} to {high})"


def _format_allowed(row: Row) -> str:
    """Return the allowed range if it is not just the margin, which is shown anyway."""
    low, high = row.get("allowed_low"), row.get("allowed_high")
    if low is None or high is None or (low, high) == (-row["margin"], row["margin"]):
        return ""
    digits = digits_of([low, high], row["unit"])
    limits = [format_number(limit, row["unit"], digits, signed=True) for limit in (low, high)]
    unit = format_unit(row["unit"])
    return f"allowed {limits[0]} to {limits[1]}{' ' if unit else ''}{unit}: "


def _runs(row: Row, runs_min: int) -> str:
    return f"runs: {row['runs'][0]} and {row['runs'][1]} of {runs_min} at least"
