"""Seeded mutants of JSON: one value of it is another, or is gone."""

import copy
import random
from collections.abc import Iterator
from typing import Any

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**70), 10**400, 0.5, -0.0, 1e300, float("nan"),
    float("inf"), float("-inf"), "", "x", "\x00", "\ud800", "1e999", "[/b]\x1b[2J", "y" * 100_000,
    [], [[]], [None], [1, "2"], {}, {"": None}, {"value": {"value": 1}}, {"then": "x"},
)  # fmt: skip


def mutants(sample: Any, chance: random.Random, count: int) -> Iterator[Any]:
    """`count` copies of `sample` with one to three places changed."""
    for _ in range(count):
        mutant = copy.deepcopy(sample)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            mutant = _changed(mutant, chance)
        yield mutant


def _changed(value: Any, chance: random.Random) -> Any:
    places = list(_places(value, ()))
    if not places:
        return copy.deepcopy(chance.choice(STRANGE))
    *way, last = chance.choice(places)
    holder = value
    for step in way:
        holder = holder[step]
    if chance.random() < 0.25:
        del holder[last]
    else:
        holder[last] = copy.deepcopy(chance.choice(STRANGE))
    return value


def _places(value: Any, way: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*way, name)
        if isinstance(item, dict | list):
            yield from _places(item, (*way, name))
