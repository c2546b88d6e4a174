"""Decide whether the machine starved a load or disturbed a block: all bounds in one place; pure.

A load is starved for one of two reasons. A process of it was suspended (`describe_suspension`),
which concerns this load alone and is decided when it is recorded. Or its block was disturbed
(`judge_disturbances`), which can only be decided once the block's other loads are there, and so
when records are read.

A block is judged as a unit and by external causes: the processor time of foreign processes and of
the hypervisor. A load's own stack affects neither, so that no stack's slow loads are excluded more
often than another's. How long a load's own processes waited for a processor, and how late its
packets were for that reason, does depend on its stack: neither excludes a load. Too many late
packets withhold the answer of the whole network instead (`find_withheld`).
"""

from collections.abc import Mapping

import polars as pl

from eyelevel.base.json_types import JsonMapping
from eyelevel.store.outcomes import COUNTED

CPU_FOREIGN_SHARE_MAX = 0.10
"""The largest share of the load's processors that other programs may use in each load; otherwise
the block is starved. At the bound a load takes 1 to 2 % longer, and a gain is off by about 1 %
(`benchmarks.run.foreign_time`)."""
CPU_STEAL_SHARE_MAX = 0.02
"""The largest share of steal time: while the hypervisor steals, even the emulated path stops."""

STARVED_BLOCKS_SHARE_MAX = 0.5
"""The largest share of starved blocks. A network that lost more to a busy machine has no answer:
the rest are the moments between disturbances, which do not represent the machine."""
REPETITIONS_MIN = 3
"""The fewest repetitions with which a network that lost blocks has an answer: the t interval of two
differences is six times as wide as that of three."""
LATE_LOADS_SHARE_MAX = 0.5
"""The largest share of a stack's loads with late packets: its typical load must have had the
network that was planned."""

LATE = "late"
"""The column that marks loads with late packets, whatever their outcome."""
LATE_PACKETS = "late-packets"
_DISTURBED = (*COUNTED, "timeout")
"""The outcomes that a disturbance replaces; on a starved machine a timeout is no result, either."""


def describe_suspension(host: JsonMapping) -> str:
    """Return which process of the load was suspended for longest, as a sentence; empty for none."""
    seen = host.get("suspended") or ()
    if not seen:
        return ""
    longest = max(seen, key=lambda each: each["ms"] or 0.0)
    how_long = "" if longest["ms"] is None else f" for {longest['ms'] / 1e3:.1f} s"
    others = f"; so were {len(seen) - 1} more" if len(seen) > 1 else ""
    return f"{longest['process']} was suspended{how_long}{others}"


def disturbance(foreign_share: float | None, steal_share: float) -> str:
    """Return why a machine was too busy for a load; empty if it was not.

    The shares are 0 to 1; `foreign_share` None: not measured.
    """
    takers = []
    if foreign_share is not None and foreign_share > CPU_FOREIGN_SHARE_MAX:
        takers.append(f"other programs took {foreign_share:.0%}")
    if steal_share > CPU_STEAL_SHARE_MAX:
        takers.append(f"the hypervisor took {steal_share:.1%}")
    return " and ".join(takers) + " of the processor time" if takers else ""


def judge_alone(record: JsonMapping) -> tuple[str, str]:
    """Return outcome and detail of a load outside of any block, judged by itself."""
    outcome, host = record["outcome"], record["host"]
    reason = disturbance(host.get("cpu_foreign_share"), host["cpu_steal_share"])
    if reason and outcome in _DISTURBED:
        return "starved", reason
    return outcome, record["outcome_detail"]


def find_disturbed_blocks(table: pl.DataFrame) -> dict[str, str]:
    """Return the reasons of the disturbed blocks, by name of the block."""
    worst = table.group_by("block", maintain_order=True).agg(
        pl.col("cpu_foreign_share").max(), pl.col("cpu_steal_share").max()
    )
    return {
        block: f"{reason} during a load of its block"
        for block, *shares in worst.iter_rows()
        if (reason := disturbance(*shares))
    }


def judge_disturbances(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with all loads of disturbed blocks as `starved`, other late ones as `ok`.

    A block is as disturbed as the worst of its loads. The column LATE marks loads with late
    packets.
    """
    reasons = pl.DataFrame(
        list(find_disturbed_blocks(table).items()),
        schema={"block": pl.String, "disturbance": pl.String},
        orient="row",
    )
    is_late = pl.col("outcome") == LATE_PACKETS
    is_starved = pl.col("disturbance").is_not_null() & pl.col("outcome").is_in(_DISTURBED)
    return (
        table.join(reasons, on="block", how="left", maintain_order="left")
        .with_columns(
            is_late.alias(LATE),
            outcome=pl.when(is_starved)
            .then(pl.lit("starved"))
            .when(is_late)
            .then(pl.lit("ok"))
            .otherwise("outcome"),
            outcome_detail=pl.when(is_starved).then("disturbance").otherwise("outcome_detail"),
        )
        .drop("disturbance")
    )


def find_withheld(
    table: pl.DataFrame, kept: pl.DataFrame, repetitions_min: int = REPETITIONS_MIN
) -> Mapping[str, str]:
    """Return why the machine leaves a network without an answer, by network; others are absent.

    `table` has the judged loads, `kept` those that are compared; `repetitions_min`: the fewest
    repetitions with which a network that lost blocks has an answer.
    """
    reasons = find_disturbed_blocks(table)
    by_network = table.group_by("network", maintain_order=True).agg(pl.col("block").unique())
    left = dict(kept.group_by("network").agg(pl.col("repetition").n_unique()).iter_rows())
    late = _late_most(kept)
    found = {}
    for network, names in by_network.iter_rows():
        lost, blocks = [reasons[name] for name in sorted(names) if name in reasons], len(names)
        repetitions = left.get(network, 0)
        if lost and (
            len(lost) > STARVED_BLOCKS_SHARE_MAX * blocks or repetitions < repetitions_min
        ):
            found[network] = (
                f"the machine was too busy to answer: {len(lost)} of {blocks} blocks were "
                f"disturbed (such as: {lost[0]}); run it again on a quieter machine"
            )
        elif network in late:
            stack, count, loads = late[network]
            found[network] = (
                "the machine was too slow to answer: packets were late in "
                f"{count} of {loads} loads of {stack}; run it where nothing else takes the "
                "processors; `eyelevel doctor` shows what the machine lacks"
            )
    return found


def briefly(reason: str) -> str:
    """Return a reason of `find_withheld` without its figures and remedy."""
    return reason.partition(": ")[0]


def _late_most(kept: pl.DataFrame) -> Mapping[str, tuple[str, int, int]]:
    """Return the stack with most late loads, their number and that of its loads, by network.

    Networks within LATE_LOADS_SHARE_MAX are absent.
    """
    counted = (
        kept.group_by("network", "stack", maintain_order=True)
        .agg(late=pl.col(LATE).sum(), loads=pl.len())
        .filter(pl.col("late") > LATE_LOADS_SHARE_MAX * pl.col("loads"))
        .sort(pl.col("late") / pl.col("loads"), maintain_order=True)
    )
    return {network: (stack, late, loads) for network, stack, late, loads in counted.iter_rows()}
