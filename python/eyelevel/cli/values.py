"""Parse and format values of options: durations, stacks, viewports, pages' URLs."""

from urllib.parse import urlsplit

from eyelevel.base.errors import PlanError, unknown
from eyelevel.plan.stack_presets import REFUSED_PRESETS, STACKS_BY_NAME
from eyelevel.plan.stacks import Stack


def duration(seconds: float) -> str:
    """Format a duration, such as `2 h 05 min`, `3 min 20 s` or `12 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def get_stack(name: str, option: str = "--stack") -> Stack:
    """Return a preset of stacks; raises `PlanError` with the nearest name if there is none.

    `option`: the option that named it.
    """
    if name in REFUSED_PRESETS:
        raise PlanError([f"{option} {name}: {REFUSED_PRESETS[name]}"])
    if name not in STACKS_BY_NAME:
        raise PlanError([f"{option}: {unknown('stack', name, STACKS_BY_NAME)}"])
    return STACKS_BY_NAME[name]


def viewport_px(text: str) -> tuple[int, int]:
    """Return width and height in CSS pixels of `1366x768`; raises `ValueError`."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise ValueError(f"the viewport `{text}` is not WIDTHxHEIGHT, like 1366x768")
    return int(width), int(height)


EXAMPLE = "https://www.example.org/"


def is_page_url(url: str) -> bool:
    """Return whether a browser could open it as a page of a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # an incomplete IPv6 address
        return False
