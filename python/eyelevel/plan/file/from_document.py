"""Readers of traces and stages that answer from a `plan.json`, without the files themselves.

The files may be elsewhere, and only the data plane parses stages: both are taken from the document,
identified by digests.

Check that a `plan.json` agrees with the plan text in it, by resolving the text again.

The recipient of a run reads the text, but the document is what is run. A document that differs from
its text was changed, or the presets differ in this version.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from eyelevel.base.errors import PlanError
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonObject
from eyelevel.base.settings import IN_MS, Units
from eyelevel.plan.file.model import NetworkTable
from eyelevel.plan.file.parse import plan_of_toml
from eyelevel.plan.file.tables import BESIDE_THE_PATH, ON_TOP, WORDS, Readers, TraceFile, network_of
from eyelevel.plan.networks.network import Network, as_stages
from eyelevel.plan.networks.stages import SYNTH, Stage, StagesRead, with_files
from eyelevel.plan.plan import Plan

_UNITS = Units((("ns", 1e-6), *IN_MS.factors))
"""Units of times in stages."""


def _readers_of(
    networks: Sequence[Network], data: JsonObject, mean_rate_bit_s: Callable[[str], int]
) -> Readers:
    """Return readers for the names in a plan's text that answer from the document's networks.

    `data`, the text's TOML, is changed: each use of a file gets a distinct name, and words of a
    path are replaced by stages.
    """
    by_name = {network.name: network for network in networks}
    traces: dict[str, str] = {}
    stages: dict[str, StagesRead] = {}

    def trace(use: str) -> TraceFile:
        if use not in traces:
            raise ValueError(f"{excerpt(use)}: the document has no trace of this network")
        return TraceFile("", traces[use], mean_rate_bit_s(traces[use]))

    def stages_of(use: str) -> StagesRead:
        if use not in stages:
            raise ValueError(f"{excerpt(use)}: the document has no stages of this network")
        return stages[use]

    def recordings(place: str, _link: str) -> tuple[str, str]:
        return f"{place} down", f"{place} up"

    readers = Readers(trace, stages_of, recordings)
    tables = data.get("networks")
    for place, table in enumerate(tables if isinstance(tables, list) else ()):
        if not isinstance(table, dict) or not isinstance(table.get("name"), str):
            continue
        if (network := by_name.get(table["name"])) is not None:
            _name_uses(place, table, network, traces)
            if network.is_staged:
                _spell_out(place, table, network, readers, stages)
    return readers


def _name_uses(place: int, table: JsonObject, network: Network, traces: dict[str, str]) -> None:
    """Replace each trace of the table by a distinct name; `traces` gets its digest."""
    of_folder = isinstance(table.get("traces"), str)
    for way in ("down", "up"):
        use, key = f"{place} {way}", f"trace_{way}"
        digest = getattr(network, f"trace_{way}_sha256") or _of_link(network, way)
        if digest is None:
            continue
        if of_folder:
            table["traces"], traces[use] = str(place), digest
        elif isinstance(table.get(key), str):
            table[key], traces[use] = use, digest


def _of_link(network: Network, way: str) -> str | None:
    """Return the digest of the trace of a network's own link: the first down, the last up."""
    digests: list[str] = []

    def note(digest: str) -> str:
        digests.append(digest)
        return digest

    with_files(getattr(network, f"stages_{way}") or (), note)
    return digests[0 if way == "down" else -1] if digests else None


def _spell_out(
    place: int,
    table: JsonObject,
    network: Network,
    readers: Readers,
    stages: dict[str, StagesRead],
) -> None:
    """Replace a table's path words by names of all stages in both directions.

    Stages that the text gives without the data plane (those of a preset or a round trip) come from
    the text, all others from the document.
    """
    alone = not table.keys() - {*WORDS, *BESIDE_THE_PATH}
    try:
        beside = _around(table, alone, readers)
    except ValueError:
        return  # mistakes in the table are reported when it is parsed
    for way in ("down", "up"):
        known = beside[way]
        read = network.stages_as_read(way)
        found = tuple(read["stages"])
        has_own = way in table or (alone and f"trace_{way}" in table)
        own = found[len(known) :] if way == "down" else found[: len(found) - len(known)]
        # Only presets have synthetic traces; path words cannot name one.
        own = tuple(stage for stage in own if SYNTH not in stage) if has_own else ()
        read["stages"] = (*known, *own) if way == "down" else (*own, *known)
        stages[f"{place} {way}"] = StagesRead(files={}, **read)
    for key in table.keys() - set(BESIDE_THE_PATH):
        del table[key]
    table.update({way: f"{place} {way}" for way in ("down", "up")})


def _around(table: JsonObject, alone: bool, readers: Readers) -> dict[str, list[Stage]]:
    """Return the stages that a table's text has besides those of its words, by direction."""
    if not alone:
        bare = {key: value for key, value in table.items() if key not in ON_TOP}
        keys = NetworkTable.model_validate_json(json.dumps(bare, default=str))
        return as_stages(network_of(keys, readers, {}))
    if "rtt" not in table:
        return {"down": [], "up": []}
    delay = {"stage": "delay", "delay_ms": float(_UNITS.quantity(table["rtt"])) / 2}
    return {"down": [delay], "up": [delay]}


_APART = ("source", "sites", "trace_files", "recording_files")
"""Keys that are not compared: the text itself, and paths of recordings and traces, which are
identified by digests.
"""


def check_text(plan: Plan, source: str, mean_rate_bit_s: Callable[[str], int]) -> None:
    """Raise `PlanError` with the first key in which `plan` differs from its own text.

    `plan` was read from the document `source`; `mean_rate_bit_s` returns a trace's rate by digest.
    Stages, which only the data plane can parse, and digests are taken from the document: they are
    checked against the files elsewhere. A plan without a text is not checked.
    """
    if not plan.source:
        return
    data = parse_toml(plan.source, Source(f"{source}: the plan's text", PLAN, plan_error))
    data["sites"] = list(plan.sites)
    for table, variant in zip(data.get("variants", ()), plan.variants, strict=False):
        if isinstance(table, dict) and ("recordings" in table or "edits" in table):
            table["recordings"] = list(variant.recordings)
    readers = _readers_of(plan.networks, data, mean_rate_bit_s)
    resolved = plan_of_toml(data, plan.source, f"{source}: the plan's text", readers=readers)
    stated, by_text = plan.stated(without=_APART), resolved.stated(without=_APART)
    if (found := _difference(stated, by_text)) is not None:
        key, has, would = found
        raise PlanError(
            [
                f"{source}: `{key}` is {excerpt(has)}, and by the plan's text in it "
                f"{excerpt(would)}: it was changed, or the presets have; use the eyelevel that "
                "wrote it, or get it again"
            ]
        )


def _difference(has: object, would: object, key: str = "") -> tuple[str, object, object] | None:
    """Return the first key in which the two values differ, and both values there; None if equal."""
    if isinstance(has, Mapping) and isinstance(would, Mapping):
        for name in sorted({*has, *would}):
            inner = f"{key}.{name}" if key else str(name)
            if found := _difference(has.get(name), would.get(name), inner):
                return found
        return None
    if isinstance(has, list) and isinstance(would, list) and len(has) == len(would):
        for place, pair in enumerate(zip(has, would, strict=True)):
            if found := _difference(*pair, f"{key}.{place}"):
                return found
        return None
    return None if has == would else (key, has, would)
