"""Parse TOML within limits of length, depth and numbers."""

import math
import re
import tomllib
from typing import TYPE_CHECKING

from eyelevel.base.from_outside.limits import INTEGER_MAX, TOML_DEPTH_MAX
from eyelevel.base.from_outside.source import Source

if TYPE_CHECKING:
    from eyelevel.base.json_types import JsonObject

_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{TOML_DEPTH_MAX},}}")
"""A key with so many parts that `tomllib` takes seconds; such a text in a string is not a file
path either.
"""
_PLACE = re.compile(r"^(.*) \(at line (\d+), column \d+\)$")


def parse_toml(text: str, source: Source) -> "JsonObject":
    """Parse a document. Raises the source's error, with its line if that is known."""
    if len(text) > source.limit.bytes_max:
        raise source.too_long()
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise source.refusal(f"a key of more than {TOML_DEPTH_MAX} parts", str(line))
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _PLACE.match(str(error))
        last = str(text.count("\n") + 1)
        fault, place = (match[1], match[2]) if match else (str(error), last)
        raise source.refusal(f"not TOML: {fault}", place) from error
    except RecursionError as error:
        raise _depth_error(source) from error
    except ValueError as error:  # too many digits for Python, or an invalid date
        raise source.refusal("a number in it has too many digits, or is no date") from error
    _check(data, source)
    return data


def _check(data: "JsonObject", source: Source) -> None:
    left: list[tuple[str, int, object]] = [("", 0, data)]
    while left:
        key, depth, value = left.pop()
        if depth > TOML_DEPTH_MAX:
            raise _depth_error(source)
        if isinstance(value, dict):
            left += [(f"{key}.{name}" if key else name, depth + 1, v) for name, v in value.items()]
        elif isinstance(value, list):
            left += [(key, depth + 1, each) for each in value]
        elif isinstance(value, int) and abs(value) > INTEGER_MAX:
            raise source.refusal(f"`{key}`: a number of more than 64 bits")
        elif isinstance(value, float) and not math.isfinite(value):
            raise source.refusal(f"`{key}`: {value} is not a finite number")


def _depth_error(source: Source) -> Exception:
    return source.refusal(f"its arrays or tables are nested too deep, over {TOML_DEPTH_MAX} levels")
