"""Measure whether taking frames changes what is measured: interleaved pairs with and without."""

import os
import random
import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.browser.figure import Figure, load

PAIRS = 150
PAIRS_VARIABLE = "PAIRS"
"""Environment variable: fewer pairs, for a look; the bounds are meant for 150."""

SITE, NETWORK = "dashboard", "dsl"
"""A page that paints often, over a network that lets it: a short load shows a cost best."""

STACKS = ("tcp+", "quic")
BOOTSTRAPS = 4000
SEED = 1


def capture() -> Iterator[Figure]:
    """The four variants of a block in random order; blocks with a load that does not count are
    left."""
    order = random.Random(SEED)
    variants = [(stack, taken) for stack in STACKS for taken in (False, True)]
    blocks: list[list[float]] = []
    wanted = int(os.environ.get(PAIRS_VARIABLE, PAIRS))
    for seed in range(1, wanted + 1):
        times = {}
        for stack, taken in order.sample(variants, len(variants)):
            record = load(SITE, NETWORK, stack, seed, taken).record
            if record["outcome"] == "ok":
                times[stack, taken] = record["navigation"]["page_load_time_ms"]
        if len(times) == len(variants):
            blocks.append([times[variant] for variant in variants])
        if seed % 10 == 0:
            print(f"{seed} of {wanted} blocks, {len(blocks)} whole", file=sys.stderr, flush=True)
    print(f"{len(blocks)} whole blocks of {wanted}", file=sys.stderr)
    if len(blocks) < 2:
        return
    values = np.array(blocks)  # columns: tcp+ without, with; quic without, with
    drawn = np.random.default_rng(SEED).integers(0, len(values), (BOOTSTRAPS, len(values)))
    medians = np.median(values[drawn], axis=1)
    middle = np.median(values, axis=0)
    for at, stack in ((0, "tcp+"), (2, "quic")):
        yield _figure(
            f"page load time with frames / without - 1, {stack}, %",
            "within 3",
            middle[at + 1] / middle[at] - 1,
            medians[:, at + 1] / medians[:, at] - 1,
        )
    yield _figure(
        "quic against tcp+, with frames less without, % points",
        "within 2",
        middle[3] / middle[1] - middle[2] / middle[0],
        medians[:, 3] / medians[:, 1] - medians[:, 2] / medians[:, 0],
    )


def _figure(what: str, asked: str, measured: float, drawn: np.ndarray) -> Figure:
    """Return a figure with the 95 % bootstrap interval instead of the least and the largest
    value."""
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Figure(what, asked, 100 * measured, 100 * float(low), 100 * float(high))
