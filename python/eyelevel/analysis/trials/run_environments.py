"""The machines that made a run's loads, without one that only committed them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.store.environment import CLIENT

OF_STUDY = ("version", "altered_sites", "secure_shares")
"""Keys of `environment.json` that describe the study and not a machine."""
UNKNOWN = "unknown"


@dataclass(frozen=True)
class RunEnvironment:
    """A machine that made loads, with its environment when it joined or when the run began.

    Its ID, `machine`, and its `name` are empty in a run without a cluster.
    """

    machine: str
    name: str
    loads: int
    environment: JsonMapping
    is_measured: bool = True
    """Whether its path was checked before its loads; that of a machine that at first only committed
    loads is not."""


def run_environments(
    own: JsonMapping, documents: Mapping[str, JsonMapping], table: pl.DataFrame
) -> tuple[RunEnvironment, ...]:
    """Return the machines of a table of loads, those with most loads first.

    `own`: `environment.json`; `documents`: machine documents by ID (`eyelevel.store.machines`).
    """
    counted = (
        table.group_by("machine").len("loads").sort(["loads", "machine"], descending=[True, False])
    )
    found = []
    for machine, loads in counted.iter_rows():
        known = documents.get(machine or "", {})
        environment = known.get("environment", {}) if machine else _here(own)
        is_measured = bool(machine) or CLIENT not in own or "path_checks" in environment
        name = known.get("name", "")
        found.append(RunEnvironment(machine or "", name, loads, environment, is_measured))
    return tuple(found)


def environment_of(own: JsonMapping, machines: Sequence[RunEnvironment]) -> JsonMapping:
    """Return one joint environment for all machines.

    It has shared values as they are, differing values as lists, and the worst of each measurement.
    """
    if CLIENT not in own and not any(each.machine for each in machines):
        return own
    of_study = {key: own[key] for key in OF_STUDY if key in own}
    return of_study | _together([each.environment for each in machines])


def _here(own: JsonMapping) -> JsonMapping:
    of_client: JsonMapping = own.get(CLIENT, own)
    return {key: value for key, value in of_client.items() if key not in OF_STUDY}


def _together(environments: Sequence[JsonMapping]) -> JsonObject:
    found: JsonObject = {}
    for key in dict.fromkeys(key for each in environments for key in each):
        there = [each for each in environments if each.get(key) is not None]
        if not there:
            continue
        if key in _RULES:
            found[key] = _RULES[key](there, key)
        elif all(isinstance(each[key], Mapping) for each in there):
            found[key] = _together([each[key] for each in there])
        else:
            found[key] = _alike_or_listed(there, key, len(environments))
    return found


def _alike_or_listed(environments: Sequence[JsonMapping], key: str, count: int) -> object:
    values: list[object] = [each[key] for each in environments]
    values += [UNKNOWN] * (len(values) < count)
    distinct = [each for number, each in enumerate(values) if each not in values[:number]]
    return distinct[0] if len(distinct) == 1 else ", ".join(map(_as_text, distinct))


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"({', '.join(map(str, value))})"
    return str(value)


def _largest(environments: Sequence[JsonMapping], key: str) -> object:
    return max(each[key] for each in environments)


def _smallest(environments: Sequence[JsonMapping], key: str) -> object:
    return min(each[key] for each in environments)


def _worst_checks(environments: Sequence[JsonMapping], key: str) -> object:
    """Return the first failed result of each check, or its first result if none failed."""
    found: JsonObject = {}
    for each in environments:
        for name, check in each[key].items():
            is_worse = check["passed"] is False and found.get(name, {}).get("passed") is not False
            if name not in found or is_worse:
                found[name] = check
    return found


def _select_measured_pairs(environments: Sequence[JsonMapping], key: str) -> object:
    """Return the first complete measurement of each pair of stacks, or its first if none is.

    One is enough: machines of a class are unequal in the same aspects.
    """
    found: dict[tuple[str, str], JsonMapping] = {}
    for each in environments:
        for level in each[key]:
            pair = level["first"], level["second"]
            if pair not in found or (level["complete"] and not found[pair]["complete"]):
                found[pair] = level
    return list(found.values())


def _first(environments: Sequence[JsonMapping], key: str) -> object:
    return next((each[key] for each in environments if each[key]), [])


_RULES: Mapping[str, Callable[[Sequence[JsonMapping], str], object]] = MappingProxyType(
    {
        "load_1min": _largest,
        "memory_bytes": _smallest,
        "path_checks": _worst_checks,
        "levels": _select_measured_pairs,
        "stacks_validated": _first,
    }
)
