"""Rows of the traces of typical loads: the bytes on the downlink over time."""

import numpy as np
import polars as pl

from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.downlink import MEASURES, Downlink, downlink_of
from eyelevel.analysis.trials.limits import LIMITS
from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.load_traces import downlink_chart
from eyelevel.report.figures.filmstrips import typical_loads

NETWORKS_MAX = 6  # per figure, in the plan's order
POINTS_MAX = 160  # per load: the resolution of a panel of 420 pixels
SILENCE_PX_MIN = 0.002  # as a share of the load: shorter ones are below a pixel


def downlink_levels(contents: StudyResults) -> pl.DataFrame:
    """Return the downlink of the first site's typical loads, with no rows without timelines.

    The columns are `network`, `site`, `stack`, `hash`, `at_s` and `kilobytes`.
    """
    rows = [
        (network, site, stack, trial, at_ms / 1e3, level / 1e3)
        for network, site, stack, trial, downlink in _typical(contents)
        for at_ms, level in _levels(downlink)
    ]
    names = ("network", "site", "stack", "hash", "at_s", "kilobytes")
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def downlink_figure(rows: pl.DataFrame, contents: StudyResults) -> JsonObject:
    """Return the chart of `downlink_levels`; each panel has the title of its site and network."""
    title = pl.format("{} on {}", "site", "network").alias("network")
    silences = [
        (network, site, stack, start / 1e3, end / 1e3)
        for network, site, stack, _, downlink in _typical(contents)
        for start, end in downlink.empty()
        if end - start > SILENCE_PX_MIN * downlink.load_ms
    ]
    names = ["network", "site", "stack", "start_s", "end_s"]
    gaps = pl.DataFrame(silences, schema=names, orient="row", infer_schema_length=None)
    first = contents.sites[0]
    holds = [
        (network.name, first, what, kilobytes)
        for network in contents.planned.networks
        for what, kilobytes in network.capacities_kb().items()
    ]
    schema = {"network": pl.String, "site": pl.String, "what": pl.String, "kilobytes": pl.Float64}
    limits = pl.DataFrame(holds, schema=schema, orient="row")
    levels, gaps, limits = (table.with_columns(title) for table in (rows, gaps, limits))
    return downlink_chart(levels, gaps, limits, contents.stacks)


def downlink_medians(contents: StudyResults) -> pl.DataFrame:
    """Return medians of MEASURES and LIMITS over sites' medians, by network and stack."""
    medians = pl.col(*MEASURES, *LIMITS).median()
    by_site = contents.blocks.kept.group_by("network", "stack", "site").agg(medians)
    known = by_site.filter(pl.any_horizontal(pl.col(*MEASURES, *LIMITS).is_not_null()))
    over_sites = known.group_by("network", "stack").agg(pl.len().alias("sites"), medians)
    order = pl.DataFrame(
        [(network, stack) for network in contents.networks for stack in contents.stacks],
        schema=["network", "stack"],
        orient="row",
    )
    return order.join(over_sites, on=["network", "stack"], how="inner", maintain_order="left")


def _typical(contents: StudyResults) -> list[tuple[str, str, str, str, Downlink]]:
    site = contents.sites[0]
    typical = typical_loads(contents, [site])
    loads = []
    for network in contents.networks[:NETWORKS_MAX]:
        for stack, row in typical.get((site, network), {}).items():
            carried = downlink_of(contents.trial(row["hash"]).record)
            if carried is not None:
                loads.append((network, site, stack, row["hash"], carried))
    return loads


def _levels(downlink: Downlink) -> list[tuple[float, float]]:
    """Return at most POINTS_MAX points, each the maximum of its intervals."""
    together = -(-downlink.on_the_way_bytes.size // POINTS_MAX)
    starts = np.arange(0, downlink.on_the_way_bytes.size, together)
    most = np.maximum.reduceat(downlink.on_the_way_bytes, starts)
    points = [
        (max(0.0, float(downlink.start_ms[start])), float(most_bytes))
        for start, most_bytes in zip(starts, most, strict=True)
    ]
    ended = float(downlink.start_ms[-1] + downlink.interval_ms)
    after = [(ended, 0.0)] if ended < downlink.load_ms else []
    before = [(0.0, 0.0)] if points[0][0] > 0 else []
    return [*before, *points, *after, (downlink.load_ms, after[0][1] if after else points[-1][1])]
