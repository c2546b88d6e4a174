"""Value types of a record's schema, each with the bounds that its readers rely on."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field

from eyelevel.store.outcomes import OUTCOMES_BY_NAME

CLOSED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
OBSERVED = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

_TIME_MS_MAX = 1e9  # eleven days; larger values would overflow in sums and dates
_FLOAT_MAX = 1e300  # so that sums stay finite

OutcomeName = Annotated[str, Field(pattern=f"^(?:{'|'.join(OUTCOMES_BY_NAME)})$")]
Integer = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Field(ge=0, lt=2**53)]
Number = Annotated[float, Field(ge=-_FLOAT_MAX, le=_FLOAT_MAX)]
TimeMs = Annotated[float, Field(ge=-_TIME_MS_MAX, le=_TIME_MS_MAX)]
Milliseconds = Annotated[float, Field(ge=0, le=_TIME_MS_MAX)]
Nanoseconds = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Span = Annotated[Sequence[TimeMs], Field(min_length=2, max_length=2)]


def _instant(value: str) -> str:
    if datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("it is in no time zone")
    return value


Instant = Annotated[str, AfterValidator(_instant)]
"""Wall time in ISO 8601, as a record's label has it."""
Shades = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{2})*$")]
"""Bytes in hexadecimal."""


def _url(value: str) -> str:
    if "[" in value or "]" in value or not value.isascii():  # `urlsplit` accepts all others
        urlsplit(value)
    return value


Url = Annotated[str, AfterValidator(_url)]
"""A URL that `urlsplit` can parse."""
Scalar = str | bool | Integer | Number | None
