"""Compare pairs of conditions instead of protocols: address families, resumption, 0-RTT.

One host is compared with itself over one protocol from one vantage point, within a file and across
files: a run with `--resume-session` has full and resumed handshakes, one with `-4 -6` both
families. Rows without a vantage point are paired within their file only, since two unnamed vantage
points may differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.probes.differences import differences_of, empty_summary
from eyelevel.probes.pairing import APART_S_MAX, pair_within
from eyelevel.probes.protocols import THESIS_NAMES

FULL = ~(
    pl.col("resumed")
    | pl.col("resumption_offered")
    | pl.col("early_data_offered")
    | pl.col("early_data_accepted")
)
"""Full handshakes: no session was offered, so they could not have been shorter."""
RESUMED = pl.col("resumed") & ~pl.col("early_data_offered") & ~pl.col("early_data_accepted")
"""Resumed handshakes. Rejected early data costs time, so such rows are neither these nor 0-RTT."""
ZERO_RTT = pl.col("early_data_accepted")


@dataclass(frozen=True)
class Comparison:
    """Conditions A and B, the column of which A - B is taken, and the columns to match."""

    a: str
    b: str
    what: str
    rows_a: pl.Expr
    rows_b: pl.Expr
    alike: tuple[str, ...]


_PLACE = ("host", "protocol", "vantage")
CONDITIONS = (
    Comparison(
        "v4",
        "v6",
        "connection_ms",
        FULL & (pl.col("family") == "v4"),
        FULL & (pl.col("family") == "v6"),
        (*_PLACE, "version"),
    ),
    Comparison("full", "resumed", "connection_ms", FULL, RESUMED, (*_PLACE, "family")),
    Comparison("full", "0-RTT", "first_byte_ms", FULL, ZERO_RTT, (*_PLACE, "family")),
    Comparison("resumed", "0-RTT", "first_byte_ms", RESUMED, ZERO_RTT, (*_PLACE, "family")),
)
"""Pairs of conditions; a difference is positive if B took less time. 0-RTT shows in the time to
the first byte, not in the connection time.
"""


def conditions_of(table: pl.DataFrame) -> list[JsonObject]:
    """Return one row per comparison, protocol and vantage point with rows of both conditions.

    Each row of A is paired with the row of B nearest in time, at most 60 s apart; failed rows are
    left out. In a run with `--resume-session` that is the second of a pair, or the one before.
    """
    rows = []
    for comparison in CONDITIONS:
        usable = table.filter(
            pl.col("failure").is_null() & pl.col(comparison.what).is_not_null()
        ).with_columns(place=pl.coalesce("vantage", "file"))
        of_a, of_b = usable.filter(comparison.rows_a), usable.filter(comparison.rows_b)
        keys = sorted({*_keys(of_a)} & {*_keys(of_b)}, key=_rank)
        for protocol, vantage in keys:
            same = (pl.col("protocol") == protocol) & pl.col("vantage").eq_missing(
                pl.lit(vantage, pl.String)
            )
            row = _compare(of_a.filter(same), of_b.filter(same), comparison)
            rows.append({"protocol": protocol, "vantage": vantage} | row)
    return rows


def _keys(table: pl.DataFrame) -> Sequence[tuple[str, str | None]]:
    return [(p, v) for p, v in table.select("protocol", "vantage").unique().iter_rows()]


def _rank(key: tuple[str, str | None]) -> tuple[object, ...]:
    protocol, vantage = key
    names = list(THESIS_NAMES)
    return names.index(protocol) if protocol in names else len(names), protocol, vantage or ""


def _compare(of_a: pl.DataFrame, of_b: pl.DataFrame, comparison: Comparison) -> JsonObject:
    def key(row: Mapping[str, object]) -> tuple[object, ...]:
        return (row["place"], *(row[name] for name in comparison.alike))

    hosts_a, hosts_b = set(of_a["host"]), set(of_b["host"])
    row: JsonObject = {
        "a": comparison.a,
        "b": comparison.b,
        "what": comparison.what,
        "hosts_both": len(hosts_a & hosts_b),
        "hosts_a_alone": len(hosts_a - hosts_b),
        "hosts_b_alone": len(hosts_b - hosts_a),
    }
    pairs = pair_within(of_a, of_b, comparison.what, key, nearest=True)
    if not pairs.difference_ms.size:
        reason = f"no pairs at most {APART_S_MAX:.0f} s apart"
        return row | empty_summary(reason) | {"by_host": []}
    by_host = pl.DataFrame({"host": pairs.hosts, "ms": pairs.difference_ms}).group_by("host")
    medians = by_host.agg(n=pl.len(), median_ms=pl.col("ms").median()).sort("host")
    return row | differences_of(pairs) | {"by_host": medians.to_dicts()}
