"""Rows of progress curves: the visual progress over time, of typical loads and on average.

They come from the progress that is stored with each load's metrics, so that no image is read.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from eyelevel.analysis.stats.estimate import Floats
from eyelevel.analysis.study import StudyResults
from eyelevel.report.charts.distribution import ALL_SITES
from eyelevel.report.figures.filmstrips import typical_loads

PANELS_MAX = 24  # per figure, in the plan's order: eight rows of three
POINTS = 80  # per mean curve: the resolution of a panel of 200 pixels
LOADS_SHARE = 0.95  # the share of loads that are visually complete where the axis ends

_ROWS = {
    "network": pl.String, "site": pl.String, "stack": pl.String,
    "seconds": pl.Float64, "share": pl.Float64,
}  # fmt: skip


def mean_progress(contents: StudyResults, points: int = POINTS) -> pl.DataFrame:
    """Return the mean progress over loads at even times.

    The columns are `network`, `site`, `stack`, `seconds`, `share`. Site ALL_SITES is the mean over
    the sites' means. Single sites follow if all panels are at most PANELS_MAX. A block counts if
    every stack's load has frames; a block with a timeout does not count. The area above a curve is
    its loads' mean Speed Index, except for what comes after the axis ends.
    """
    loads = _complete_blocks(contents)
    single = (len(contents.sites) + 1) * len(contents.networks) <= PANELS_MAX
    parts = []
    for network in contents.networks[:PANELS_MAX]:
        own = loads.filter(network=network)
        sites = [site for site in contents.sites if site in set(own["site"])]
        panels = sites if len(sites) < 2 else [ALL_SITES, *(sites if single else ())]
        for site in panels:
            of_panel = own if site == ALL_SITES else own.filter(site=site)
            parts += list(_panel(of_panel, network, site, contents.stacks, points))
    return pl.concat([pl.DataFrame(schema=_ROWS), *parts])


def typical_progress(contents: StudyResults) -> pl.DataFrame:
    """Return the steps of the typical loads' progress, up to PANELS_MAX pairs of site and network.

    The columns are `network`, `site`, `stack`, `hash`, `seconds`, `share`; pairs are in the plan's
    order.
    """
    typical, rows, panels = typical_loads(contents), [], 0
    for site in contents.sites:
        for network in contents.networks:
            loads = {
                stack: row
                for stack, row in typical.get((site, network), {}).items()
                if row["progress_at_ms"]
            }
            if not loads or panels == PANELS_MAX:
                continue
            panels += 1
            end_ms = max(row["progress_at_ms"][-1] for row in loads.values())
            for stack, row in loads.items():
                steps = zip(row["progress_at_ms"], row["progress_share"], strict=True)
                key = (network, site, stack, row["hash"])
                rows += [(*key, at_ms / 1e3, share) for at_ms, share in steps]
                if row["progress_at_ms"][-1] < end_ms:  # a complete picture stays complete
                    rows.append((*key, end_ms / 1e3, 1.0))
    names = ["network", "site", "stack", "hash", "seconds", "share"]
    schema = {name: pl.String if index < 4 else pl.Float64 for index, name in enumerate(names)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _complete_blocks(contents: StudyResults) -> pl.DataFrame:
    kept = contents.blocks.kept.select(
        "network", "site", "stack", "block", at_ms="progress_at_ms", share="progress_share"
    )
    there = pl.col("at_ms").is_not_null().all().over("block")
    return kept.filter(there)


def _panel(
    loads: pl.DataFrame, network: str, site: str, stacks: list[str], points: int
) -> Iterator[pl.DataFrame]:
    ends = loads.with_columns(end_ms=pl.col("at_ms").list.last())
    late = ends.group_by("stack").agg(pl.col("end_ms").quantile(LOADS_SHARE, "higher"))
    grid_ms = np.linspace(0, float(np.max(late["end_ms"].to_numpy())), points + 1)
    for stack in stacks:
        own = loads.filter(stack=stack)
        if own.height:
            yield pl.DataFrame(
                {"network": network, "site": site, "stack": stack,
                 "seconds": grid_ms / 1e3, "share": _mean_curve(own, grid_ms)},
                schema=_ROWS,
            )  # fmt: skip


def _mean_curve(loads: pl.DataFrame, grid_ms: Floats) -> Floats:
    """Return the mean share at each time, over sites of the means over a site's loads."""
    weighted = loads.with_columns(
        weight=1 / pl.len().over("site") / pl.col("site").n_unique(),
        rise=pl.col("share").list.diff().list.eval(pl.element().fill_null(0.0)),
    )
    steps = weighted.select("at_ms", "rise", "weight").explode("at_ms", "rise").cast(pl.Float64)
    # A rise counts from the first grid time that is not before it.
    place = np.searchsorted(grid_ms, steps["at_ms"].to_numpy(), "left")
    rises = (steps["rise"] * steps["weight"]).to_numpy()
    summed: Floats = np.bincount(place, rises, minlength=len(grid_ms) + 1).astype(float)
    return np.cumsum(summed)[: len(grid_ms)]
