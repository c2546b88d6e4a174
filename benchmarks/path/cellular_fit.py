"""Find the seeds of the cellular model that come nearest to recorded links.

FOLDER has Mahimahi's traces (github.com/ravinet/mahimahi, its folder traces/). The percentiles of a
recording's rate over 1 s, as shares of its mean, are held against those of the courses of many
seeds; the distance is the mean of the percentiles' differences. `eyelevel.plan.networks.presets`
has the nearest seed that no other has; networks whose own recording it is choose first.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyelevel.cli.path.trace import read_trace
from eyelevel.plan.networks.presets import LINKS, MODEL, SECONDS
from eyelevel.plan.traces.info import BIN_MS, PERCENTILES, trace_info
from eyelevel.plan.traces.models import Generator, cellular

SEEDS = range(5, 1005)
"""The first four are those of the networks das-verizon-RTT and das-att-RTT."""
FIRST_S = 10
FIRST_SHARES = (0.9, 1.1)
"""Each load begins with the course, so that it sees the first seconds above all: these must have
the course's mean, within a tenth."""


def recorded_shares(file: Path) -> NDArray[np.float64]:
    """The percentiles of a recording's rate over 1 s as shares of its mean."""
    info = trace_info(read_trace(file))
    return np.array([*info.rate_bit_s_percentiles.values()]) / info.rate_bit_s_mean


def courses() -> dict[int, NDArray[np.float64]]:
    """Return those of courses by seed, before single packets come at random under them."""
    found = {}
    for seed in SEEDS:
        course = cellular(Generator(seed, MODEL), SECONDS * 1000)
        rates = course.reshape(-1, BIN_MS).mean(axis=1)
        first = rates[: FIRST_S * 1000 // BIN_MS].mean() / rates.mean()
        if FIRST_SHARES[0] <= first <= FIRST_SHARES[1]:
            found[seed] = np.percentile(rates, PERCENTILES) / rates.mean()
    return found


def fitted(folder: Path) -> Iterator[tuple[str, str, int, float]]:
    """Yield for each network and direction the nearest seed that is left, and its distance."""
    left = courses()
    for each in sorted(LINKS, key=lambda each: not each.own):
        for way in ("down", "up"):
            recorded = recorded_shares(folder / f"{each.likeness}.{way}")
            distances = {
                seed: float(np.abs(shares - recorded).mean()) for seed, shares in left.items()
            }
            seed = min(distances, key=lambda seed: distances[seed])
            del left[seed]
            yield each.name, way, seed, distances[seed]


def main() -> int:
    """Print the seeds and their distances."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, way, seed, distance in fitted(parser.parse_args().folder):
        print(f"{name:12} {way:4} seed {seed:3}, distance {distance:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
