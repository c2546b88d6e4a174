"""A plan file's shape: what its TOML may say (spec/plan.md), before names are resolved.

Its tables follow from the declarations of `Network`, `Stack` and `Browser`: a table of a network or
a stack has a preset as its `base` and may leave everything out, those of the browser stand beside
the plan's own keys. Only what a plan says otherwise than a network stands here.
"""

import json
from typing import Annotated, Any, TypeVar

from annotated_types import MinLen
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.networks.network import CrossTraffics, Network
from eyelevel.networks.origin_rtt import OriginRtts
from eyelevel.plan.browser import Browser
from eyelevel.plan.causes import Cause
from eyelevel.plan.plan import (
    SMALLEST_EFFECT,
    Blocks,
    Seed,
    SmallestEffect,
    StopRule,
    Weight,
)
from eyelevel.plan.stacks import Stack
from eyelevel.settings import About, Share, about, annotations_of

# Letters, digits and the few signs that names of presets have: names stand in paths and tables.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9 ._+@-]{0,63}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]


class Table(BaseModel):
    """A table of a plan's TOML."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self) -> JsonObject:
        """Return the given values by key."""
        values = {key: getattr(self, key) for key in self.model_fields_set}
        return {key: value for key, value in values.items() if value is not None}


class Based(Table):
    """A preset, and what differs from it."""

    name: Name | None = None
    base: str | None = None


_Text = str | None
_Rtt = Annotated[_Text, About("without another link: the minimum round trip, half of it each way")]
_Trace = Annotated[_Text, About("a file in Mahimahi's format, in the place of this way's link")]
_Traces = Annotated[_Text, About("a folder with recordings of the operator's link `base`")]
_Stages = Annotated[_Text, About("more stages this way: toward the client last, from it first")]


class NetworkKeys(Based):
    """A network: a preset's name as `base`, and what differs from it; all of it; or the words of a
    path, which may also come on top of either."""

    weight: Weight | None = None
    rtt: _Rtt = None
    trace_down: _Trace = None
    trace_up: _Trace = None
    traces: _Traces = None
    down: _Stages = None
    up: _Stages = None
    loss_two_way: Share | None = None


class StackKeys(Based):
    """A stack: a preset's name as `base`, and what differs from it."""


class PlanKeys(Table):
    """The whole file; defaults are part of `spec/plan.md`."""

    title: str = ""
    sites: Annotated[list[str], MinLen(1)]
    networks: list[NetworkKeys]
    stacks: list[StackKeys]
    reference: str | None = None
    comparisons: Annotated[list[tuple[str, str]], MinLen(1)] | None = None
    blocks: Blocks
    seed: Seed = 1
    primary_metric: str = "speed_index_ms"
    smallest_effect_of_interest: SmallestEffect = SMALLEST_EFFECT
    smallest_effect_reason: str = ""
    cross_traffic: CrossTraffics | None = None
    origin_rtt: OriginRtts | None = None
    stop: StopRule | None = None
    causes: Annotated[list[Cause], MinLen(1)] | None = None

    def browser_settings(self) -> Browser:
        """Return the browser settings among the keys."""
        return Browser(**{name: getattr(self, name) for name in annotations_of(Browser)})


_Keys = TypeVar("_Keys", bound=Table)


def _with_settings(
    name: str, keys: type[_Keys], settings: type[Any], *, optional: bool, **further: Any
) -> type[_Keys]:
    """Return the table with a key for each setting that a plan can set."""
    keys_of: JsonObject = {}
    for key, words in about(settings).items():
        annotation = annotations_of(settings)[key]
        if words.plan:
            default = None if optional else getattr(settings, key)
            keys_of[key] = (annotation | None if optional else annotation, default)
    return create_model(name, __base__=keys, __doc__=keys.__doc__, **keys_of, **further)


def _preset(value: Any) -> Any:
    return {"base": value} if isinstance(value, str) else value


def _tables(table: Any) -> Any:
    return (list[Annotated[table, BeforeValidator(_preset)]], Field(min_length=1))


NetworkTable = _with_settings("NetworkTable", NetworkKeys, Network, optional=True)
StackTable = _with_settings("StackTable", StackKeys, Stack, optional=True)
PlanFile = _with_settings(
    "PlanFile",
    PlanKeys,
    Browser,
    optional=False,
    networks=_tables(NetworkTable),
    stacks=_tables(StackTable),
)


def read_plan_file(data: JsonMapping) -> PlanKeys:
    """Return the file's keys, checked; raises pydantic's ValidationError."""
    # As JSON, whose arrays are tuples and whose objects are dataclasses in strict mode, too.
    return PlanFile.model_validate_json(json.dumps(data, default=str))
