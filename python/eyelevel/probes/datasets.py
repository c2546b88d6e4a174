"""Describe the measured data, one row per file, as in table 3.1 of the thesis."""

from collections.abc import Iterable
from datetime import UTC, datetime

import polars as pl

from eyelevel.base.json_types import JsonObject


def datasets_of(tables: Iterable[pl.DataFrame]) -> list[JsonObject]:
    """Return one row per table that has rows.

    `samples` counts every attempt, including failed ones (the thesis also counted each file's
    header, so its numbers are larger by one); `first_at` and `last_at` are UTC times to the second,
    null if no row has a time.
    """
    return [_dataset(table) for table in tables if table.height]


def _dataset(table: pl.DataFrame) -> JsonObject:
    at_s = table.filter(pl.col("at_s") > 0)["at_s"]
    return {
        "file": table["file"][0],
        "samples": table.height,
        "first_at": _utc(at_s.min()),
        "last_at": _utc(at_s.max()),
        "vantages": table["vantage"].drop_nulls().unique().sort().to_list(),
        "families": table["family"].drop_nulls().unique().sort().to_list(),
        "hosts": table["host"].n_unique(),
        "failures": table["failure"].is_not_null().sum(),
    }


def _utc(at_s: object) -> str | None:
    if not isinstance(at_s, float):
        return None
    try:
        return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return None  # a year outside of the calendar's range


def period(row: JsonObject) -> str:
    """Return the first and last day of a dataset in UTC, or the only one."""
    if row["first_at"] is None:
        return "not recorded"
    first, last = row["first_at"][:10], row["last_at"][:10]
    return first if first == last else f"{first} to {last}"
