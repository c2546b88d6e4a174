"""Declare each setting once, as a field of a frozen dataclass, and derive its other forms.

`Stack`, `Network` and `Browser` are such dataclasses. A field's annotation has its type, its bounds
(`annotated_types`), the units in which it may be written (`Units`) and its description (`About`).
From these are derived a plan's TOML tables and their JSON schema (`eyelevel.plan.file.model`), the
command line's options (`eyelevel.cli.options`), the JSON of plans and records (`stated`, `read`)
and the lab's configuration. pydantic validates; it is imported only where something is validated,
since `python -m eyelevel.plan.networks` has to answer at once.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, ClassVar, Self, get_args, get_type_hints

from annotated_types import Ge, Gt, Interval, Le, Lt

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.base.lab_tables import LIMITS

_NUMBER_AND_UNIT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z/%µ]*)\s*")


class Settings:
    """Base class of frozen dataclasses of settings."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "strict": True}

    def stated(self, *, without: tuple[str, ...] = ()) -> JsonObject:
        """Return the settings as JSON, even without effect, except those in `without`."""
        stated = _as_json(asdict(self))  # type: ignore[call-overload]
        return {name: value for name, value in stated.items() if name not in without}

    @classmethod
    def read(cls, values: JsonMapping) -> Self:
        """Parse the result of `stated`. Raises pydantic's `ValidationError`, a `ValueError`."""
        import json

        # As JSON, so that arrays become tuples and objects dataclasses even in strict mode.
        found: Self = _adapter(cls).validate_json(json.dumps(values, default=str))
        return found


@dataclass(frozen=True)
class About:
    """Description of a setting: `text` is a phrase for help, schema and tables.

    `servers`: whether the lab's servers get it; `plan`: whether a plan can set it. `flag`: its
    option, if that has another name; `separator`: between the elements of an option that is a list;
    `tried`: words that users write instead of its name.
    """

    text: str
    servers: bool = False
    plan: bool = True
    flag: str = ""
    separator: str = ""
    tried: tuple[str, ...] = ()

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        return {**handler(core), "description": self.text}


@dataclass(frozen=True)
class Checked:
    """Calls a function on a value before pydantic; its `ValueError` becomes the message."""

    function: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self.function, handler(source))


LISTED = Checked(lambda value: tuple(value) if isinstance(value, list) else value)
"""Converts arrays of TOML and JSON to tuples."""


@dataclass(frozen=True)
class Units:
    """A number, or a text with one of these units; each has its factor."""

    factors: tuple[tuple[str, float], ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return Checked(self.quantity).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        alternatives = "|".join(re.escape(unit) for unit, _ in self.factors)
        text = {"type": "string", "pattern": rf"^\s*[0-9.]+\s*({alternatives})\s*$"}
        return {"anyOf": [{"type": "number", "minimum": 0}, text]}

    def quantity(self, value: Any) -> Any:
        """Convert a text such as `25 Mbit/s` to a number.

        Other values are left to the field's checks.

        Raises `ValueError`, with the known units, for a text that is not a quantity.
        """
        if isinstance(value, str):
            known = dict(self.factors)
            match = _NUMBER_AND_UNIT.fullmatch(value)
            if match is None or match[2] not in known:
                units = ", ".join(known)
                raise ValueError(f"`{value}` is not a number with one of the units {units}")
            # Rounded: 0.035 * 1e6 is not 35000 in binary.
            value = round(float(match[1]) * known[match[2]], 9)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        return int(value) if isinstance(value, float) and value.is_integer() else value


_SIZE = Units((("B", 1), ("kB", 10**3), ("KiB", 2**10), ("MB", 10**6), ("MiB", 2**20)))

RateBitS = Annotated[
    int, Units((("bit/s", 1), ("kbit/s", 10**3), ("Mbit/s", 10**6), ("Gbit/s", 10**9)))
]
AGE_S_MAX = 366 * 86_400
"""The greatest age of a cache: a year, as long as responses may be fresh by custom."""
IN_MS = Units((("us", 0.001), ("µs", 0.001), ("ms", 1), ("s", 1000)))
DurationMs = Annotated[float, Ge(0), IN_MS]
DurationS = Annotated[float, Gt(0), Units((("ms", 0.001), ("s", 1), ("min", 60)))]
AgeS = Annotated[
    int, Ge(0), Le(AGE_S_MAX), Units((("s", 1), ("min", 60), ("h", 3600), ("d", 86_400)))
]
Share = Annotated[float, Ge(0), Lt(1), Units((("%", 0.01),))]
SizeBytes = Annotated[int, Ge(0), _SIZE]


def within(limit: str) -> Interval:
    """Return the data plane's limits for a setting (`eyelevel.base.lab_tables`)."""
    return Interval(ge=LIMITS[limit].min, le=LIMITS[limit].max)


def annotations_of(settings: Any) -> JsonObject:
    """Return each field's annotation with its metadata, by name, in order."""
    hints = get_type_hints(settings, include_extras=True)
    return {field.name: hints[field.name] for field in fields(settings)}


def about(settings: Any) -> dict[str, About]:
    """Return the description of each field by name, including those on optional aliases."""
    return {
        name: found
        for name, annotation in annotations_of(settings).items()
        for each in (annotation, *get_args(annotation))
        for found in getattr(each, "__metadata__", ())
        if isinstance(found, About)
    }


def names_tried(settings: Any) -> dict[str, str]:
    """Return fields' names by the words that users often write for them."""
    return {
        word: name for name, description in about(settings).items() for word in description.tried
    }


_ADAPTERS: dict[type[Settings], Any] = {}


def _adapter(settings: type[Settings]) -> Any:
    from pydantic import TypeAdapter

    if settings not in _ADAPTERS:
        _ADAPTERS[settings] = TypeAdapter(settings)
    return _ADAPTERS[settings]


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, list | tuple) else value
