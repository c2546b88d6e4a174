"""Stages that a plan spells out, as the data plane checked them: any of its own, known by none."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eyelevel.json_types import JsonMapping

Stage = JsonMapping

DIGEST = "sha256:"
"""Before the digest that stands for a file: where it lies is not what it is."""


def with_files(stages: Sequence[Stage], replaced: Callable[[str], str]) -> tuple[Stage, ...]:
    """The stages with each file's digest replaced; `replaced` gets it without its mark."""
    return tuple(_with_files(stage, replaced) for stage in stages)


def describe(stages: Sequence[Stage]) -> str:
    """The stages in one line, in the order in which a packet meets them."""
    return ", ".join(_described(stage) for stage in stages) or "nothing"


def _with_files(value: Any, replaced: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_files(item, replaced) for key, item in value.items()}
    if isinstance(value, str) and value.startswith(DIGEST):
        return replaced(value.removeprefix(DIGEST))
    return value


def _described(stage: Stage) -> str:
    words = [str(stage["stage"])]
    for key, item in stage.items():
        if key in ("stage", "queue") or item is None or item is False:
            continue
        words += [key, _value_described(item)]
    queue = stage.get("queue")
    if queue:
        rest = [f"{k} {v}" for k, v in queue.items() if k != "discipline" and v is not False]
        words += ["queue", queue["discipline"], *rest]
    return " ".join(words)


def _value_described(item: Any) -> str:
    if isinstance(item, Mapping):
        return "(" + " ".join(f"{k} {_value_described(v)}" for k, v in item.items()) + ")"
    if isinstance(item, list | tuple):
        return "(" + ", ".join(_value_described(part) for part in item) + ")"
    if isinstance(item, str) and item.startswith(DIGEST):
        return item[: len(DIGEST) + 12]
    return f"{item:g}" if isinstance(item, float) else str(item)
