"""Rows in other forms: the thesis's CSV, Parquet."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from eyelevel.probes.protocols import THESIS_NAMES
from eyelevel.probes.reading import THESIS_COLUMNS


def to_thesis_csv(rows: Iterable[Mapping[str, Any]], *, header: bool = True) -> str:
    """Rows of `eyelevel probe` in the thesis's columns, semicolons between.

    As in its files, times have three decimals in milliseconds, attempts that failed have no line,
    and the time of the TCP handshake stands only with TCP.
    """
    lines = [";".join(THESIS_COLUMNS)] if header else []
    for row in rows:
        if row.get("failure") is not None or row.get("connection_us") is None:
            continue
        cells = (
            _milliseconds(row.get("dns_us")),
            str(row["at_unix_us"] // 1_000_000),
            str(row["host"]),
            str(row["path"]),
            str(row["address"]),
            str(row["port"]),
            _milliseconds(row["connection_us"]),
            "" if row.get("http_status") is None else str(row["http_status"]),
            THESIS_NAMES[row["protocol"]],
            _milliseconds(row.get("tcp_handshake_us")),
        )
        lines.append(";".join(cells))
    return "".join(line + "\n" for line in lines)


class ParquetRows:
    """Rows for one Parquet file, written when it is closed; what comes later is another file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[Mapping[str, Any]] = []

    def take(self, row: Mapping[str, Any]) -> None:
        """One row."""
        self._rows.append(row)

    def close(self) -> None:
        """Write what was taken."""
        if self._rows:
            write_parquet(self._rows, self._path)


def write_parquet(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Every field of every row under its own name."""
    pl.DataFrame(list(rows), infer_schema_length=None).write_parquet(path)


def _milliseconds(microseconds: int | None) -> str:
    return "" if microseconds is None else f"{microseconds / 1000:.3f}"
