"""Measure the effect of single settings: `python -m benchmarks.level.parts DIR` for a run of
`parts.toml`.

Each stack with a setting of its own is compared with the stack that it is but for that setting, in
the same blocks: the median of the ratios, less one, with the least and the largest. A Markdown
table a network. Nothing is asserted.
"""

from pathlib import Path

import polars as pl

import eyelevel
from benchmarks.shared.command import runs

METRICS = {"page_load_time_ms": "page load time", "speed_index_ms": "Speed Index"}
BASES = ("tcp+", "quic")


def main(directory: Path) -> None:
    """Prints one table a network: a row a site and switched setting."""
    loads = eyelevel.open(directory).frame()
    loads = loads.filter(pl.col("counted") & (pl.col("outcome") == "ok"))
    switched = sorted(set(loads["stack"].unique()) - set(BASES))
    for network in loads["network"].unique().sort():
        rows = loads.filter(pl.col("network") == network)
        sites = rows["site"].unique().sort().to_list()
        print(f"\n`{network}`\n\n| switched alone | metric | {' | '.join(sites)} |")
        print(f"| --- | --- |{' --- |' * len(sites)}")
        for stack, base in [
            ("quic", "tcp+"),
            *((stack, stack.split(" - ")[0]) for stack in switched),
        ]:
            for name, title in METRICS.items():
                cells = [cell(rows, site, stack, base, name) for site in sites]
                label = "`quic` against `tcp+`" if stack == "quic" else stack
                print(f"| {label} | {title} | {' | '.join(cells)} |")


def cell(rows: pl.DataFrame, site: str, stack: str, base: str, metric: str) -> str:
    """The median over blocks in per cent, with the least and the largest; a dash without any."""
    of_site = rows.filter(pl.col("site") == site).drop_nulls(metric)
    one, other = (of_site.filter(pl.col("stack") == name) for name in (stack, base))
    pairs = one.join(other, on="block", suffix="_base")
    ratios = (pairs[metric] / pairs[f"{metric}_base"] - 1) * 100
    if ratios.is_empty():
        return "\N{EN DASH}"
    return f"{ratios.median():+.1f} ({ratios.min():+.0f} to {ratios.max():+.0f})"


if __name__ == "__main__":
    for directory in runs(__doc__):
        main(directory)
