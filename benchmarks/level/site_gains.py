"""Gains site by site, of one run or of several side by side.

Each DIR holds a finished run of two stacks, such as of `shipped_sites.toml` beside this. A gain is
the median over the run's blocks of the ratio of a block's two loads, less one; its bounds are the
least and the largest of the blocks. A Markdown table a network; loads that did not count are left
out. Nothing is asserted.
"""

import math
from pathlib import Path

import polars as pl

import eyelevel
from benchmarks.shared.command import runs

METRICS = {"page_load_time_ms": "page load time", "speed_index_ms": "Speed Index"}


def main(directories: list[Path]) -> None:
    """Prints one table a network, with two columns a run."""
    gains = {directory.name: gains_of(directory) for directory in directories}
    every = pl.concat(list(gains.values()))
    for network in every["network"].unique().sort():
        heads = [f"{run}, {title}" for run in gains for title in METRICS.values()]
        print(f"\n`{network}`\n\n| site | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}")
        for site in every["site"].unique().sort():
            cells = [
                cell(table, network, site, name) for table in gains.values() for name in METRICS
            ]
            print(f"| `{site}` | {' | '.join(cells)} |")
        means = [over_sites(table, network, name) for table in gains.values() for name in METRICS]
        print(f"| geometric mean | {' | '.join(means)} |")


def gains_of(directory: Path) -> pl.DataFrame:
    """Return one row per network, site and block: the ratio of the two stacks' loads by metric."""
    run = eyelevel.open(directory)
    loads = run.frame().filter(pl.col("counted") & (pl.col("outcome") == "ok"))
    reference = run.contents.comparisons[0].reference
    keys = ["network", "site", "block"]
    compared = loads.filter(pl.col("stack") != reference)
    pairs = compared.join(loads.filter(pl.col("stack") == reference), on=keys, suffix="_reference")
    ratios = [(pl.col(name) / pl.col(f"{name}_reference")).alias(name) for name in METRICS]
    return pairs.select(*keys, *ratios)


def cell(table: pl.DataFrame, network: str, site: str, metric: str) -> str:
    """The blocks' median in per cent, the least and the largest; a dash where there is none."""
    ratios = table.filter((pl.col("network") == network) & (pl.col("site") == site))[
        metric
    ].drop_nulls()
    if ratios.is_empty():
        return "\N{EN DASH}"
    median, low, high = (100 * (x - 1) for x in (ratios.median(), ratios.min(), ratios.max()))
    return f"{median:+.1f} ({low:+.0f} to {high:+.0f})"


def over_sites(table: pl.DataFrame, network: str, metric: str) -> str:
    """The geometric mean over sites of the sites' medians, in per cent."""
    of_network = table.filter(pl.col("network") == network)
    medians = of_network.group_by("site").agg(pl.col(metric).median())[metric].drop_nulls()
    return "\N{EN DASH}" if medians.is_empty() else f"{100 * math.expm1(medians.log().mean()):+.1f}"


if __name__ == "__main__":
    main(runs(__doc__))
