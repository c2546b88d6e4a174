"""The keys of a plan file (spec/plan.md), before names are resolved.

The tables are derived from the declarations of `Network`, `Stack` and `Browser`: a network's or
stack's table has a preset as its `base`, and every other key is optional; keys of the browser are
among the plan's own keys. Only differences between a plan's table and a network are declared here.
"""

import json
from typing import Annotated, Any, TypeVar

from annotated_types import MinLen
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.base.settings import About, Share, about, annotations_of
from eyelevel.plan.browser import Browser, BrowserChange
from eyelevel.plan.causes import Cause
from eyelevel.plan.networks.network import CrossTraffics, Network
from eyelevel.plan.networks.origin_rtt import OriginRtts
from eyelevel.plan.plan import (
    SMALLEST_EFFECT,
    Blocks,
    Seed,
    SmallestEffect,
    SmallestEffectMs,
    StopRule,
    Weight,
)
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import LiveServer

# Letters, digits and the signs of preset names: names are used in paths and tables.
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
    """A table with a preset as `base`, and the values that differ from it."""

    name: Name | None = None
    base: str | None = None


_Text = str | None
_Rtt = Annotated[_Text, About("without another link: the minimum round trip, half of it each way")]
_Trace = Annotated[_Text, About("a file in Mahimahi's format, in the place of this way's link")]
_Traces = Annotated[_Text, About("a folder with recordings of the operator's link `base`")]
_Stages = Annotated[_Text, About("more stages this way: toward the client last, from it first")]


class NetworkKeys(Based):
    """A network's table.

    It has a preset as `base` and the values that differ, or all values, or the words of a path,
    which can also be added to either.
    """

    weight: Weight | None = None
    rtt: _Rtt = None
    trace_down: _Trace = None
    trace_up: _Trace = None
    traces: _Traces = None
    down: _Stages = None
    up: _Stages = None
    loss_two_way: Share | None = None


class StackKeys(Based):
    """A stack's table: a preset as `base`, and the values that differ from it."""


class VariantTable(Table):
    """A variant of the pages: its name, the recordings in the place of the plan's `sites`, in their
    order, and the edits of these; without them the sites as they are. `live`: a server that answers
    for their own origin. `browser`: the browser settings in which its loads differ."""

    name: Name
    recordings: Annotated[list[str], MinLen(1)] | None = None
    edits: Annotated[list[str | dict[str, str]], MinLen(1)] | None = None
    live: LiveServer | None = None
    browser: BrowserChange | None = None


class PlanKeys(Table):
    """The keys of a plan file; defaults are part of `spec/plan.md`."""

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
    smallest_effect_of_interest_ms: SmallestEffectMs | None = None
    smallest_effect_reason: str = ""
    cross_traffic: CrossTraffics | None = None
    origin_rtt: OriginRtts | None = None
    stop: StopRule | None = None
    causes: Annotated[list[Cause], MinLen(1)] | None = None
    variants: Annotated[list[VariantTable], MinLen(2)] | None = None

    def browser_settings(self) -> Browser:
        """Return the browser settings among the keys."""
        return Browser(**{name: getattr(self, name) for name in annotations_of(Browser)})


_Keys = TypeVar("_Keys", bound=Table)


def _with_settings(
    name: str, keys: type[_Keys], settings: type[Any], *, optional: bool, **further: Any
) -> type[_Keys]:
    """Return the table class with a key for each setting that a plan can set."""
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
    """Validate a plan file's data; raises pydantic's `ValidationError`."""
    # Validate JSON: in strict mode, too, its arrays become tuples and its objects dataclasses.
    return PlanFile.model_validate_json(json.dumps(data, default=str))
