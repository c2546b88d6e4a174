"""Decide outcomes that depend on the other loads of a block or site: pure, over trials' facts.

A record's own outcome is committed with it and never changes. Readers use the judged one: the
record's, or one of these if the record has `ok`. Disturbances by the machine are judged first
(`eyelevel.analysis.trials.starvation`).
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from eyelevel.analysis.trials.starvation import judge_disturbances

PICTURE_DIFFERENCE_MAX = 0.10
"""The largest mean difference of two final frames, of full scale: a page without its hero image
differs by more, one with another caption in a carousel by less."""

LOADS_MIN = 4
"""The fewest loads whose median is a useful reference."""

TIMER_GAP_RATIO_MAX = 2.0
TIMER_GAP_MARGIN_MS = 200.0
"""A load counts as suspended if its timer gap is above twice the median of the page's loads on the
network, whatever the stack, and 200 ms above it. This is tested only if the load's processes were
not watched for suspension: a stack that keeps the processors busy stops the timer, too."""

MACHINE_CLASS = "machine_class"
"""The column of a load's machine class. Another kernel, processor or font changes times and images,
so that a load is judged by loads of its own class alone."""

JUDGED_BY = (
    *("hash", "site", "network", "stack", "block", "outcome", "outcome_detail", MACHINE_CLASS),
    *("missed", "final_picture", "cpu_foreign_share", "cpu_steal_share", "timer_gap_ms"),
)
"""The columns that the rules read."""

VARIANT = pl.col("stack").str.extract("^(.*)/").fill_null("").alias("variant")
"""The variant of the page that a load is of, by its stack's name (`eyelevel.plan.variants`). What
variants differ in is what is asked about: a load is judged by those of its own variant alone."""

Judged = Mapping[str, tuple[str, str]]


def judge_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return the facts with judged `outcome` and `outcome_detail`."""
    table = judge_disturbances(table).with_columns(VARIANT)
    for rule in (_find_missed, _different, _find_timer_gaps):
        judged = rule(table.filter(pl.col("outcome") == "ok"))
        if not judged:
            continue
        rows = [(name, outcome, detail) for name, (outcome, detail) in judged.items()]
        names = ["hash", "judged", "judged_detail"]
        table = (
            table.join(pl.DataFrame(rows, schema=names, orient="row"), on="hash", how="left")
            .with_columns(
                outcome=pl.coalesce("judged", "outcome"),
                outcome_detail=pl.coalesce("judged_detail", "outcome_detail"),
            )
            .drop("judged", "judged_detail")
        )
    return table.drop("variant")


def _find_missed(loads: pl.DataFrame) -> Judged:
    """Judge the loads whose missed requests differ from the most common set of their block.

    If two sets are equally common, all loads are judged. Loads that missed the same requests are
    pairs of one page, whatever the others missed.
    """
    judged = {}
    of_page = ["block", "variant"]
    differing = loads.filter(pl.col("missed").n_unique().over(of_page) > 1)
    for _, alike in differing.group_by(of_page, maintain_order=True):
        rows = list(alike.select("hash", "missed").iter_rows())
        sets = {name: frozenset(missed.splitlines()) for name, missed in rows}
        common = frozenset.intersection(*sets.values())
        extra = sorted(frozenset.union(*sets.values()) - common)[0]
        usual = _most_common(list(sets.values()))
        for name, missed_here in sets.items():
            if missed_here == usual:
                continue
            detail = (
                "the block's stacks missed different requests: "
                f"{extra}{' was' if extra in missed_here else ' was not'} missed here"
            )
            judged[name] = ("missed-requests", detail)
    return judged


def _most_common(sets: Sequence[frozenset[str]]) -> frozenset[str] | None:
    """Return the set that occurs more often than any other; None if there is a tie."""
    (first, often), *others = Counter(sets).most_common(2)
    return first if not others or often > others[0][1] else None


def _different(loads: pl.DataFrame) -> Judged:
    judged = {}
    there = loads.filter(pl.col("final_picture").is_not_null())
    for names, pictures in _groups(there, ("site", "variant"), "final_picture"):
        if len(names) < LOADS_MIN:
            continue
        stacked = np.stack([np.frombuffer(picture, dtype=np.uint8) for picture in pictures])
        typical = np.median(stacked, axis=0).astype(np.int16)
        differences = np.abs(stacked - typical).mean(axis=1) / 255
        for index in np.flatnonzero(differences > PICTURE_DIFFERENCE_MAX):
            detail = (
                f"the final picture differs by {differences[index]:.0%} from this site's "
                "other loads"
            )
            judged[names[index]] = ("different-page", detail)
    return judged


def _find_timer_gaps(loads: pl.DataFrame) -> Judged:
    judged = {}
    there = loads.filter(pl.col("timer_gap_ms").is_not_null())
    by = ("site", "variant", "network")
    for names, gaps_ms in _groups(there, by, "timer_gap_ms", TIMER_GAP_MARGIN_MS):
        if len(names) < LOADS_MIN:
            continue
        usual_ms = statistics.median(gaps_ms)
        bound_ms = max(TIMER_GAP_RATIO_MAX * usual_ms, usual_ms + TIMER_GAP_MARGIN_MS)
        for name, gap_ms in zip(names, gaps_ms, strict=True):
            if gap_ms > bound_ms:
                detail = (
                    f"the page's own timer stopped for {gap_ms:.0f} ms without a long task; the "
                    f"median of this page's loads is {usual_ms:.0f} ms"
                )
                judged[name] = ("capture-incomplete", detail)
    return judged


def _groups(
    loads: pl.DataFrame, by: Sequence[str], column: str, margin: float | None = None
) -> Iterable[tuple[list[str], list[Any]]]:
    """Return the hashes and values of `column` by group, each within a machine class.

    With a `margin`, return only groups whose values spread by more than it: in a large study these
    are few, and only they can have a value that far above the median.
    """
    group = [MACHINE_CLASS, *by]
    if margin is not None:
        lowest, highest = pl.col(column).min().over(group), pl.col(column).max().over(group)
        loads = loads.filter(highest > lowest + margin)
    rows = loads.group_by(group, maintain_order=True).agg("hash", column)
    return rows.select("hash", column).iter_rows()
