"""Rows in other forms: the thesis's CSV, Parquet."""

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from eyelevel.json_types import JsonMapping
from eyelevel.probes.columns import COLUMNS
from eyelevel.probes.protocols import THESIS_NAMES
from eyelevel.probes.reading import THESIS_COLUMNS

PARQUET_SCHEMA = {name: kind for name, (kind, _) in COLUMNS.items()}
GROUP_ROWS = 50_000
"""Some 20 MB of rows."""


def to_thesis_csv(rows: Iterable[JsonMapping], *, header: bool = True) -> str:
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
    """Rows for one Parquet file, in memory never more than a row group of them.

    They stream into a file of JSON lines beside it, which `close` makes into the Parquet file. If
    the process is killed, that file stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines_path = path.with_name(path.name + ".rows")
        self._lines = self._lines_path.open("w", encoding="utf-8")
        self._has_rows = False

    def take(self, row: JsonMapping) -> None:
        """One row."""
        self._lines.write(json.dumps(row) + "\n")
        self._has_rows = True

    def close(self) -> None:
        """Make the Parquet file; without rows there is none."""
        self._lines.close()
        if self._has_rows:
            lines = pl.scan_ndjson(self._lines_path, schema=PARQUET_SCHEMA)
            lines.sink_parquet(self._path, row_group_size=GROUP_ROWS)
        self._lines_path.unlink()


def write_parquet(rows: Iterable[JsonMapping], path: Path) -> None:
    """Every documented column of every row under its own name."""
    writer = ParquetRows(path)
    for row in rows:
        writer.take(row)
    writer.close()


def _milliseconds(microseconds: int | None) -> str:
    return "" if microseconds is None else f"{microseconds / 1000:.3f}"
