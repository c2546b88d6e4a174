"""Parse JSON strictly and within limits of depth, values and numbers."""

import math
import re
from typing import TYPE_CHECKING, cast

from eyelevel.base.from_outside.limits import INTEGER_MAX
from eyelevel.base.from_outside.source import Source

if TYPE_CHECKING:
    from eyelevel.base.json_types import JsonObject

_LONG = re.compile(rb"\d{19,}")
_EXPONENT = re.compile(rb"[eE]\+?\d{3}")
_LONGEST = str(INTEGER_MAX).encode()
_PLACE = re.compile(r"^(.*) at line (\d+) column (\d+)$")


def parse_json(content: bytes, source: Source) -> object:
    """Parse strict JSON in UTF-8.

    There may be no NaN, lone surrogate, infinite number, or integer beyond 64 bits. Raises the
    source's error with line and column.
    """
    from pydantic_core import from_json  # only imported by commands that read JSON

    check_size(content, source)
    try:
        value: object = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        fault, place = str(error), ""
        if found := _PLACE.match(fault):
            fault, place = found[1], f"{found[2]}:{found[3]}"
        if not content.strip():
            fault = "it is empty"
        raise source.refusal(f"damaged, not JSON ({fault})", place) from error
    if may_have_wild_numbers(content) and (wild := _wild_number(value)) is not None:
        raise source.refusal(f"the number {wild} is out of range")
    return value


def parse_object(content: bytes, source: Source) -> "JsonObject":
    """Parse JSON whose value must be an object."""
    value = parse_json(content, source)
    if not isinstance(value, dict):
        raise source.refusal("damaged, not a JSON object")
    return cast("JsonObject", value)


def check_size(content: bytes, source: Source) -> None:
    """Raise the source's error if the content has too many bytes or values, before parsing."""
    limit = source.limit
    if len(content) > limit.bytes_max:
        raise source.too_long()
    if limit.values_max and len(content) > limit.values_max:
        values = content.count(b",") + content.count(b"[") + content.count(b"{")
        if values > limit.values_max:
            raise source.too_many()


def may_have_wild_numbers(content: bytes) -> bool:
    """Return whether there may be an infinite number, or an integer of more than 64 bits."""
    if _EXPONENT.search(content):
        return True
    return any(len(n) > len(_LONGEST) or n > _LONGEST for n in _LONG.findall(content))


def _wild_number(value: object) -> str | None:
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
        elif isinstance(each, list):
            left += each
        elif isinstance(each, float) and not math.isfinite(each):
            return str(each)
        elif isinstance(each, int) and abs(each) > INTEGER_MAX:
            return f"{float(each):.3g}" if abs(each) < 10**300 else "of hundreds of digits"
    return None
