"""Where rows go: a table for people, the thesis's CSV, JSON lines, Parquet."""

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from eyelevel.cli.probe.appended import mend
from eyelevel.cli.probe.table import show
from eyelevel.json_types import JsonObject
from eyelevel.probes.export import ParquetRows, to_thesis_csv


class Sink:
    """Takes rows one by one and writes each at once, but for the table and Parquet."""

    def __init__(
        self, out: IO[str] | None, parquet: Path | None, *, as_csv: bool, as_json: bool
    ) -> None:
        self._out = out
        self._parquet = ParquetRows(parquet) if parquet else None
        self._as_csv = as_csv
        self._as_json = as_json
        self._has_header = False
        self._shown: list[JsonObject] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._out is not None:
            self._out.close()
        if self._parquet is not None:
            self._parquet.close()

    def take(self, row: JsonObject) -> None:
        """One row."""
        line = json.dumps(row, ensure_ascii=False)
        if self._out is not None:
            # Flushed, so that nothing measured is lost with this process.
            self._out.write(line + "\n")
            self._out.flush()
        if self._parquet is not None:
            self._parquet.take(row)
        if self._as_csv:
            print(to_thesis_csv([row], header=not self._has_header), end="", flush=True)
            self._has_header = True
        elif self._as_json:
            print(line, flush=True)
        else:
            self._shown.append(row)

    def round_over(self) -> None:
        """Show what a round gave."""
        if self._shown:
            show(self._shown)
            self._shown.clear()


def make_sink(out: Path | None, parquet: Path | None, *, as_csv: bool, as_json: bool) -> Sink:
    """Opens what is to be written; OSError names the file."""
    stream = None
    if out is not None:
        mend(out)
        stream = out.open("a", encoding="utf-8")
    return Sink(stream, parquet, as_csv=as_csv, as_json=as_json)
