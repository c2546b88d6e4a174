"""Wolsing et al. 2019, table 3: is QUIC's advantage more than one round trip?"""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.gains.cells import Cell, compare_cells
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.stacks import Stack

TUNED = ("tcp+", "tcp+bbr")
METRICS = ("first_visual_change_ms", "page_load_time_ms")
"""The paper's metrics, the earliest and the latest; the plan's primary one is added to them."""

_SCHEMA = {
    "network": pl.String,
    "site": pl.String,
    "stack": pl.String,
    "reference": pl.String,
    "metric": pl.String,
    "pairs": pl.Int64,
    "difference_ms": pl.Float64,
    "less_one_rtt_ms": pl.Float64,
    "less_one_rtt_ms_low": pl.Float64,
    "less_one_rtt_ms_high": pl.Float64,
    "less_one_rtt_ms_p": pl.Float64,
    "less_one_rtt_ms_undetermined_because": pl.String,
    "less_one_rtt_rtts": pl.Float64,
}


def single_origin(contents: StudyResults) -> pl.DataFrame:
    """Return QUIC - (TCP+ - 1 RTT), one row per single-origin site, network, QUIC stack and metric.

    The differences are of loads in pairs by block (Hodges and Lehmann, with their 95 % interval;
    the paper gives differences of means): a page of one origin waits for one handshake, which is
    one round trip shorter over QUIC. Null if undetermined, with the reason.
    """
    kept = contents.blocks.kept
    origins = kept.group_by("site").agg(pl.col("origins").median())
    sites = origins.filter(pl.col("origins") == 1)["site"].to_list()
    wanted = {contents.primary_metric, contents.drawn_metric, *METRICS}
    metrics = [name for name in contents.metrics if name in wanted]
    rows = []
    stacks = contents.planned.stacks
    for stack in stacks:
        references = [asked.reference for asked in contents.comparisons]
        against = partner_of(stack, stacks, references)
        if against is None:
            continue
        pair = [against, stack.name]
        loads = kept.filter(pl.col("site").is_in(sites), pl.col("stack").is_in(pair))
        for cell in compare_cells(loads, metrics, [Comparison(stack.name, against)]):
            if cell.pairs:
                rows.append(_row(cell, contents.network(cell.network).rtt_ms_min))
    return pl.DataFrame(rows, schema=_SCHEMA)


def partner_of(stack: Stack, stacks: Sequence[Stack], references: Sequence[str]) -> str | None:
    """Return the TCP stack that a QUIC stack is compared with, or None; None for a TCP stack.

    It is the tuned one with the same congestion controller, as in the paper; else another tuned
    one, `tcp+` first; else a reference of the plan. It must have TLS 1.3, whose handshakes take one
    round trip more than QUIC's.
    """
    if not stack.over_quic:
        return None
    secure = [other for other in stacks if not other.over_quic and other.tls_version == "1.3"]
    tuned = sorted(
        (other for other in secure if other.stack_preset in TUNED),
        key=lambda other: (other.controller != stack.controller, TUNED.index(other.stack_preset)),
    )
    chosen = tuned or [other for other in secure if other.name in references]
    return chosen[0].name if chosen else None


def _row(cell: Cell, rtt_ms: float) -> JsonObject:
    difference = cell.difference
    value, low, high = (
        None if bound is None else bound + rtt_ms
        for bound in (difference.value, difference.low, difference.high)
    )
    less = Estimate(value, low, high, reason=difference.reason)
    return {
        "network": cell.network,
        "site": cell.site,
        "stack": cell.stack,
        "reference": cell.reference,
        "metric": title_of(cell.metric),
        "pairs": cell.pairs,
        "difference_ms": difference.value,
        **less.as_columns("less_one_rtt_ms"),
        "less_one_rtt_rtts": None if value is None or rtt_ms == 0 else value / rtt_ms,
    }
