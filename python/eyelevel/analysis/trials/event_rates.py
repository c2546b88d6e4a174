"""Test whether stacks differ in how often their loads time out, or their attempts fail."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.stats.hypothesis.cochran_q import RateTest, rates_differ
from eyelevel.store.outcomes import OUTCOMES_BY_NAME


def event_rates(table: pl.DataFrame, stacks: Sequence[str], fault: str) -> RateTest:
    """Test outcomes with this `fault`, over the blocks that have a trial of every stack.

    "result": loads that timed out; "instrument": attempts that failed.
    """
    names = [name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.fault == fault]
    # A failed attempt counts even if a retry succeeded.
    again = (pl.col("retried") > 0) if fault == "instrument" else pl.lit(False)
    happened = (
        table.with_columns(event=pl.col("outcome").is_in(names) | again)
        .group_by("block", maintain_order=True)
        .agg(pl.col("stack"), pl.col("event"))
    )
    rows = []
    for names_seen, events in happened.select("stack", "event").iter_rows():
        by_stack = dict(zip(names_seen, events, strict=True))
        if len(by_stack) == len(stacks):
            rows.append([by_stack[stack] for stack in stacks])
    return rates_differ(rows)
