"""Machines as a factor, on made-up fleets: `python -m benchmarks.statistics.machines`.

16 machines of 60 blocks of ten sites; a block's log ratio scatters by 10 %, sites' gains by 20 %,
and blocks go to machines as they come, so that sites and machines do not cross evenly. Printed for
every fleet: in how many a test of machines alarms at 5 %; in how many it does and the machine
that is named as the farthest is the one that was put off; the median deviation that is found; and
how often the interval for one further machine holds its gain, and how wide it is. `--only N` makes
the N-th row alone. Minutes; nothing is asserted.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.shared.markdown import print_head
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Floats
from eyelevel.analysis.stats.machines import Places, gain_over_machines, largest_distance

BLOCKS, SITES = 60, 10
SCATTER, SITES_SCATTER, TYPICAL = 0.1, 0.2, -0.1
ODD = 0
"""The place of the machine that is put off."""
FLEETS, FLEETS_QUICK = 1000, 200
SEED = 18


@dataclass(frozen=True)
class Fleet:
    """Machines whose log gains are by `deviation` apart, and one besides by `off`.

    `uneven`: sites scatter by half to twice as much. `lasting`: the part of a block's scatter that
    stays with its machine for ten blocks.
    """

    name: str
    machines: int = 16
    deviation: float = 0.0
    off: float = 0.0
    uneven: bool = False
    lasting: float = 0.0


FLEETS_MADE = (
    Fleet("equal"),
    Fleet("equal, sites scatter by 5 to 20 %", uneven=True),
    Fleet("equal, of a machine's scatter 10 % lasts ten blocks", lasting=0.1),
    Fleet("equal, five machines", machines=5),
    Fleet("one is 3 % off", off=0.03),
    Fleet("one is 5 % off", off=0.05),
    Fleet("one is 7 % off", off=0.07),
    Fleet("they differ by 2 %", deviation=0.02),
    Fleet("they differ by 5 %", deviation=0.05),
    Fleet("five differ by 5 %", machines=5, deviation=0.05),
)


@dataclass(frozen=True)
class Seen:
    """Shares of fleets, a median and a mean width."""

    alarms: float
    found: float
    deviation: float
    covered: float
    width: float


def simulate(fleet: Fleet, count: int, draw: np.random.Generator) -> Seen:
    """`count` fleets alike."""
    seen = [_one(fleet, draw) for _ in range(count)]
    alarms, found, deviations, covered, widths = np.array(seen).T
    return Seen(
        float(alarms.mean()), float(found.mean()), float(np.median(deviations)),
        float(covered.mean()), float(widths.mean()),
    )  # fmt: skip


def _one(fleet: Fleet, draw: np.random.Generator) -> tuple[float, ...]:
    blocks = fleet.machines * BLOCKS
    site = np.arange(blocks) % SITES
    machine = draw.permutation(np.repeat(np.arange(fleet.machines), BLOCKS))
    of_sites = draw.normal(0.0, SITES_SCATTER, SITES)
    effects = draw.normal(0.0, fleet.deviation, fleet.machines) if fleet.deviation else 0.0
    effects = np.zeros(fleet.machines) + effects
    effects[ODD] += np.log1p(fleet.off)
    y = TYPICAL + of_sites[site] + effects[machine] + _noise(fleet, site, machine, draw)
    model = gain_over_machines(y, site, machine, fleet.machines)
    assert model.p is not None and model.deviation_machines is not None
    alarm = model.p <= SIGNIFICANCE_LEVEL
    further = TYPICAL + of_sites.mean() + float(draw.normal(0.0, fleet.deviation or 1e-12))
    low, high = model.other_machines.low, model.other_machines.high
    assert low is not None and high is not None
    is_inside = low <= np.expm1(further) <= high
    found = alarm and largest_distance(model.machines) == ODD
    return alarm, found, model.deviation_machines, is_inside, high - low


def _noise(fleet: Fleet, site: Places, machine: Places, draw: np.random.Generator) -> Floats:
    scale = SCATTER * np.where(fleet.uneven, np.geomspace(0.5, 2.0, SITES)[site], 1.0)
    lasting = draw.standard_normal((fleet.machines, BLOCKS // 10))
    order = np.zeros(len(site), dtype=int)
    for each in range(fleet.machines):
        own = machine == each
        order[own] = np.arange(int(own.sum())) // 10
    of_both = np.sqrt(1 - fleet.lasting) * draw.standard_normal(len(site))
    of_both += np.sqrt(fleet.lasting) * lasting[machine, order]
    noise: Floats = scale * of_both
    return noise


def main(count: int, only: int | None) -> None:
    """The table, in Markdown."""
    print_head(
        ("machines", "alarms", "and the right one named", "deviation found, median",
         "interval for another holds", "its width")
    )  # fmt: skip
    for number, fleet in enumerate(FLEETS_MADE, start=1):
        if only not in (None, number):
            continue
        draw = np.random.Generator(np.random.PCG64([SEED, number]))
        seen = simulate(fleet, count, draw)
        named = f"{seen.found:.1%}" if fleet.off else ""
        said = (
            f"{seen.alarms:.1%}", named, f"{seen.deviation:.2%}", f"{seen.covered:.1%}",
            f"{seen.width:.1%}",
        )  # fmt: skip
        print(f"| {' | '.join((fleet.name, *said))} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help=f"{FLEETS_QUICK} fleets a row")
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    main(FLEETS_QUICK if asked.quick else FLEETS, asked.only)
