"""Narrow a plan to some of its networks, stacks, sites and blocks, as TOML again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from eyelevel.base.errors import PlanError, unknown
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.file.change import toml_text
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Narrowing:
    """The parts of a plan to keep; one that is empty or absent is left as it is."""

    networks: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    blocks: int | None = None
    comparisons: tuple[Comparison, ...] = ()
    """Comparisons in place of the plan's own."""

    @property
    def is_given(self) -> bool:
        """Whether anything is narrowed."""
        return self != NOTHING


NOTHING = Narrowing()


def narrow_plan(text: str, name: str, narrowing: Narrowing) -> str:
    """Return the TOML of a plan with the chosen parts, in the plan's order.

    Networks may be given by a pattern. A comparison that lacks a stack is left out. Raises
    `PlanError` for names that the plan does not have, and where no comparison is left.
    """
    if not narrowing.is_given:
        return text
    document = parse_toml(text, Source(name, PLAN, plan_error))
    if narrowing.sites:
        document["sites"] = list(narrowing.sites)
    if narrowing.networks:
        document["networks"] = _choose("--networks", document, "networks", narrowing.networks)
    if narrowing.stacks:
        document["stacks"] = _choose("--stacks", document, "stacks", narrowing.stacks)
        if not narrowing.comparisons:
            document |= _comparisons_left(document, name)
    if narrowing.comparisons:
        document.pop("reference", None)
        document["comparisons"] = [[each.stack, each.reference] for each in narrowing.comparisons]
    if narrowing.blocks is not None:
        document["blocks"] = narrowing.blocks
    return dump_toml(document)


def dump_toml(document: JsonMapping) -> str:
    """Return a document as TOML, a key in each line; tables within are inline."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in document.items())


def _value(value: object) -> str:
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    return repr(value)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else toml_text(key)


def _choose(
    option: str, document: JsonMapping, key: str, patterns: Sequence[str]
) -> list[str | JsonObject]:
    """Return the elements of a plan's list that match a pattern, in the plan's order."""
    known: dict[str, str | JsonObject] = {}
    for each in document.get(key, []):
        if not isinstance(each, str):
            known[str(each.get("name"))] = each
        elif key == "networks" and any(sign in each for sign in "*?["):
            known |= {name: name for name in NETWORKS_BY_NAME if fnmatchcase(name, each)}
        else:
            known[each] = each
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise PlanError([f"{option}: {unknown(key.removesuffix('s'), pattern, known)}"])
    return [
        element
        for name, element in known.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    ]


def _comparisons_left(document: JsonMapping, name: str) -> JsonObject:
    """Return the comparisons whose stacks are both there. Raises `PlanError` if none is left."""
    stacks = [each if isinstance(each, str) else each["name"] for each in document["stacks"]]
    if "reference" in document:
        if document["reference"] not in stacks or len(stacks) < 2:
            raise PlanError(
                [
                    f"--stacks: {name} compares with `{document['reference']}`; name it, too, and "
                    "another stack"
                ]
            )
        return {}
    left = [pair for pair in document.get("comparisons", []) if set(pair) <= set(stacks)]
    if not left:
        pairs = ", ".join("/".join(pair) for pair in document.get("comparisons", []))
        raise PlanError(
            [f"--stacks: no comparison of {name} is left; name both stacks of one of {pairs}"]
        )
    return {"comparisons": left}
