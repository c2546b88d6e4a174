"""A server's distances from level stacks, of synthetic loads."""

import math

import numpy as np
import polars as pl
import pytest

from eyelevel.analysis.gains.level_distances import find_squares, level_distances
from eyelevel.plan.comparisons import Comparison

STACKS = ("s-h3", "s-h2", "quic", "tcp+")
COMPARISONS = [
    Comparison("s-h3", "s-h2"),
    Comparison("s-h2", "tcp+"),
    Comparison("s-h3", "quic"),
    Comparison("quic", "tcp+"),
]
METRIC = "speed_index_ms"


def loads(effects_ms: dict[str, float], blocks: int = 8) -> pl.DataFrame:
    """Kept loads of two sites, with each stack's effect and a seeded scatter of 1 %."""
    chance = np.random.default_rng(34)
    rows = [
        {
            "network": "dsl",
            "site": site,
            "repetition": block,
            "stack": stack,
            "outcome": "ok",
            METRIC: (base + effects_ms.get(stack, 0.0)) * float(chance.normal(1, 0.01)),
            "limit_ms": 180_000.0,
        }
        for site, base in (("a", 1000.0), ("b", 3000.0))
        for block in range(blocks)
        for stack in STACKS
    ]
    return pl.DataFrame(rows)


def distances(kept: pl.DataFrame) -> dict:
    squares = list(find_squares(COMPARISONS))
    (found,) = level_distances(kept, METRIC, squares, ["dsl"], None)
    return {"blocks": found.blocks, "without": found.blocks_without, **found.distances}


def test_a_square_needs_all_four_comparisons() -> None:
    (square,) = find_squares(COMPARISONS)
    assert square.stacks == STACKS
    for lacking in COMPARISONS:
        assert not list(find_squares([each for each in COMPARISONS if each != lacking]))


@pytest.mark.parametrize(
    ("effects_ms", "touched"),
    [
        ({}, set()),
        ({"s-h3": 150.0}, {"http3", "server"}),
        ({"s-h2": 150.0}, {"http2", "server"}),
        ({"quic": 150.0, "s-h3": 150.0}, {"level", "server"}),
    ],
)
def test_an_effect_is_in_its_own_part_alone(effects_ms: dict, touched: set) -> None:
    found = distances(loads(effects_ms))
    parts = {name: found[name] for name in ("level", "http2", "http3", "server")}
    assert {name for name, each in parts.items() if each.difference_ms.excludes_zero} == touched
    for name in touched:
        sign = -1 if (name, *effects_ms) == ("server", "s-h2") else 1
        assert parts[name].difference_ms.value == pytest.approx(sign * 150, abs=25)


def test_the_parts_add_up_even_if_loads_are_lost() -> None:
    whole = loads({"s-h3": 150.0, "s-h2": -40.0, "quic": 20.0})
    lost = (pl.col("stack") == "quic") & (pl.col("site") == "b") & (pl.col("repetition") == 3)
    found = distances(whole.filter(~lost))
    assert (found["blocks"], found["without"]) == (15, 1)
    for of in ("log_ratio", "difference_ms"):
        a, b, c, d = (
            getattr(found[name], of).value for name in ("level", "http2", "http3", "server")
        )
        assert math.isclose(a - b + c, d, abs_tol=1e-9)
