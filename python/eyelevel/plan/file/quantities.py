"""Read quantities as people write them in plans: a plain number or a number with its unit."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

_NUMBER_AND_UNIT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z/%µ]*)\s*")

_RATE = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}
_DURATION_MS = {"us": 0.001, "µs": 0.001, "ms": 1, "s": 1000}
_DURATION_S = {"ms": 0.001, "s": 1, "min": 60}
_SHARE = {"%": 0.01}
_SIZE = {"B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20}


def quantity(value: Any, units: dict[str, float]) -> Any:
    """A number for text such as `25 Mbit/s`; what is no text is left to the field's own check.

    Raises ValueError, with the units that are known, for text that is no quantity.
    """
    if not isinstance(value, str):
        return value
    match = _NUMBER_AND_UNIT.fullmatch(value)
    if match is None or match[2] not in units:
        raise ValueError(f"`{value}` is not a number with one of the units {', '.join(units)}")
    # Rounded, since 0.035 * 1e6 is not 35000 in binary.
    return round(float(match[1]) * units[match[2]], 9)


def _reader(units: dict[str, float]) -> BeforeValidator:
    return BeforeValidator(lambda value: quantity(value, units))


def _schema(units: dict[str, float]) -> WithJsonSchema:
    alternatives = "|".join(re.escape(unit) for unit in units)
    text = {"type": "string", "pattern": rf"^\s*[0-9.]+\s*({alternatives})\s*$"}
    return WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, text]})


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


RateBitS = Annotated[int, Field(gt=0), BeforeValidator(_whole), _reader(_RATE), _schema(_RATE)]
DurationMs = Annotated[
    float, Field(ge=0, allow_inf_nan=False), _reader(_DURATION_MS), _schema(_DURATION_MS)
]
DurationS = Annotated[
    float, Field(gt=0, allow_inf_nan=False), _reader(_DURATION_S), _schema(_DURATION_S)
]
Share = Annotated[float, Field(ge=0, lt=1), _reader(_SHARE), _schema(_SHARE)]
SizeBytes = Annotated[int, Field(gt=0), BeforeValidator(_whole), _reader(_SIZE), _schema(_SIZE)]
SizeOrNoneBytes = Annotated[
    int, Field(ge=0), BeforeValidator(_whole), _reader(_SIZE), _schema(_SIZE)
]
"""0 where there is to be none."""
