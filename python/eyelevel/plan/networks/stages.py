"""Stages spelled out by a plan or a command, as validated by the data plane."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.traces.spec import SYNTH_MODELS

Stage = JsonMapping

DIGEST = "sha256:"
"""Prefix of a digest that stands for a file, whose path is not part of a stage's identity."""


SYNTH = "synth"
"""Key that replaces a trace by the settings of its generator (`SynthSpec`)."""

_FILE = re.compile(rf"{DIGEST}[0-9a-f]{{64}}")
_WORDS = ("stage", "kind", "discipline")
"""Keys whose value is an enumerated word; every other text is a file name, except a synthetic
trace's model.
"""


@dataclass(frozen=True)
class StagesRead:
    """One direction's validated stages, files by digest, and their combined values."""

    stages: tuple[Stage, ...]
    files: Mapping[str, str]
    rate_bit_s: int
    delay_ms_min: float
    queue_ms_max: float


NOTHING = StagesRead((), {}, 0, 0.0, 0.0)
"""A direction without stages."""


def with_files(stages: Sequence[Stage], replaced: Callable[[str], str]) -> tuple[Stage, ...]:
    """Return the stages with each file's digest replaced; `replaced` gets it without its prefix."""
    return tuple(_with_files(stage, replaced) for stage in stages)


def at_mean_rates(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages with synthetic traces replaced by links of the same mean rate.

    Their combined values are the same, for readers that cannot generate traces.
    """
    return [
        {"stage": "rate", "rate_bit_s": stage[SYNTH]["rate_bit_s_mean"], "queue": stage["queue"]}
        if SYNTH in stage
        else stage
        for stage in stages
    ]


def find_unnamed_file(stages: Sequence[Stage]) -> str:
    """Return the first text in the stages that may be a file name instead of a digest.

    Returns "" if there is none.
    """
    left: list[tuple[str, Any]] = [("", list(stages))]
    while left:
        key, value = left.pop()
        if isinstance(value, Mapping):
            left += value.items()
        elif isinstance(value, list | tuple):
            left += [(key, item) for item in value]
        elif isinstance(value, str) and not _is_known(key, value):
            return value
    return ""


def _is_known(key: str, text: str) -> bool:
    is_model = key == "model" and text in SYNTH_MODELS
    return key in _WORDS or is_model or _FILE.fullmatch(text) is not None


def describe(stages: Sequence[Stage]) -> str:
    """Return the stages in one line, in the order in which a packet meets them."""
    return ", ".join(_describe(stage) for stage in stages) or "nothing"


def _with_files(value: Any, replaced: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_files(item, replaced) for key, item in value.items()}
    if isinstance(value, str) and value.startswith(DIGEST):
        return replaced(value.removeprefix(DIGEST))
    return value


def _describe(stage: Stage) -> str:
    words = [str(stage["stage"])]
    for key, item in stage.items():
        if key in ("stage", "queue") or item is None or item is False:
            continue
        words += [key, _describe_value(item)]
    queue = stage.get("queue")
    if queue:
        rest = [f"{k} {v}" for k, v in queue.items() if k != "discipline" and v is not False]
        words += ["queue", queue["discipline"], *rest]
    return " ".join(words)


def _describe_value(item: Any) -> str:
    if isinstance(item, Mapping):
        return "(" + " ".join(f"{k} {_describe_value(v)}" for k, v in item.items()) + ")"
    if isinstance(item, list | tuple):
        return "(" + ", ".join(_describe_value(part) for part in item) + ")"
    if isinstance(item, str) and item.startswith(DIGEST):
        return item[: len(DIGEST) + 12]
    return f"{item:g}" if isinstance(item, float) else str(item)
