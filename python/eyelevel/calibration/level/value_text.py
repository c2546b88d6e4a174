"""Format values of the level: significant digits, and the same number of decimals in a row.

Describe settings in words: each states what is in force, not its effect.
"""

from collections.abc import Callable, Iterable
from functools import wraps

from eyelevel.calibration.level.classes import Value
from eyelevel.plan.stacks import Stack

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


Says = Callable[[Stack], str]

ITS_OWN = "its own"
"""The text of a setting that an external server decides and that cannot be read back
(docs/guides/external-server.md)."""


def of_our_servers(says: Says) -> Says:
    """Decorate the text of a setting that only our servers have."""

    @wraps(says)
    def said(s: Stack) -> str:
        return says(s) if s.is_ours else ITS_OWN

    return said


def no_priorities(s: Stack) -> str:
    """Return why a stack's responses have no priorities; empty if they have."""
    h1 = not s.schedules_responses
    return "HTTP/1.1 has one response a connection at a time, and no priorities" if h1 else ""


def no_scheduler(s: Stack) -> str:
    """Return why a stack has no response scheduler; empty if it has one."""
    h1 = not s.schedules_responses
    return "HTTP/1.1 has one response a connection at a time, and no scheduler" if h1 else ""


def no_tls(s: Stack) -> str:
    """Return why a stack has no TLS handshake; empty if it has one."""
    return "cleartext has no TLS" if not s.over_tls else ""
