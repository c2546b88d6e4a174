"""Format values of the level: significant digits, and the same number of decimals in a row."""

from collections.abc import Iterable

from eyelevel.calibration.level.classes import Value

NOT_MEASURED = "not measured"
MINUS = "\N{MINUS SIGN}"
PERCENT = 100.0
"""The factor from a share to percent."""
COARSE = 100.0
"""The least number for which decimals in its row are noise."""


def format_unit(unit: str) -> str:
    """Return a unit in the form that follows a number."""
    return "%" if unit == "share" else unit


def format_number(value: float, unit: str, digits: int, *, signed: bool = False) -> str:
    """Format a number without its unit: no negative zero, and a minus as wide as a plus."""
    rounded = round(value * PERCENT if unit == "share" else value, digits) + 0.0
    sign = "+" if signed and rounded > 0 else ""
    return f"{sign}{rounded:,.{digits}f}".replace("-", MINUS)


def digits_of(values: Iterable[float | None], unit: str) -> int:
    """Return the number of decimals for numbers in one row."""
    scale = PERCENT if unit == "share" else 1.0
    known = [abs(value) * scale for value in values if value is not None]
    if all(value == round(value) for value in known) or max(known) >= COARSE:
        return 0
    return 1 if unit else 2


def format_value(value: Value | None, unit: str) -> str:
    """Format a single value with its unit."""
    if value is None:
        return NOT_MEASURED
    if isinstance(value, str):
        return value
    return f"{format_number(value, unit, digits_of([value], unit))} {format_unit(unit)}".strip()
