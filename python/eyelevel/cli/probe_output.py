"""Where rows go: a table for people, the thesis's CSV, JSON lines, Parquet."""

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from eyelevel.cli.appended import mend
from eyelevel.cli.output import results, table
from eyelevel.probes.export import ParquetRows, to_thesis_csv

COLUMNS = (
    ("protocol", "protocol"),
    ("dns ms", "dns_us"),
    ("tcp ms", "tcp_handshake_us"),
    ("tls ms", "tls_handshake_us"),
    ("quic ms", "quic_handshake_us"),
    ("connected ms", "connection_us"),
    ("first byte ms", "first_byte_us"),
)


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
        self._shown: list[dict[str, Any]] = []

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

    def take(self, row: dict[str, Any]) -> None:
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
            results.print(_table(self._shown))
            for row in self._shown:
                note = _note(row)
                if note:
                    results.print(f"{row['host']} {row['protocol']}: {note}", markup=False)
            self._shown.clear()


def make_sink(out: Path | None, parquet: Path | None, *, as_csv: bool, as_json: bool) -> Sink:
    """Opens what is to be written; OSError names the file."""
    stream = None
    if out is not None:
        mend(out)
        stream = out.open("a", encoding="utf-8")
    return Sink(stream, parquet, as_csv=as_csv, as_json=as_json)


def _table(rows: list[dict[str, Any]]) -> Any:
    titles = [title for title, _ in COLUMNS]
    has_rtt = any(row.get("path_rtt_ms") for row in rows)
    multiples = ("connected RTT", "request RTT") if has_rtt else ()
    numbers = (*titles[1:], *multiples, "round trips", "status")
    made = table("host", "address", titles[0], *numbers, "version", "failure", right=numbers)
    for row in rows:
        cells = [_milliseconds(row.get(key)) for _, key in COLUMNS[1:]]
        if has_rtt:
            rtt_us = 1000 * row["path_rtt_ms"]
            cells += [_multiple(row[key], rtt_us) for key in ("connection_us", REQUEST)]
        made.add_row(
            row["host"],
            row["address"] or "",
            row["protocol"],
            *cells,
            _text(row.get("round_trips")),
            _text(row.get("http_status")),
            row.get("version") or "",
            row.get("failure") or "",
        )
    return made


REQUEST = "first_request_byte_us"


def _note(row: dict[str, Any]) -> str:
    """What the table has no room for."""
    notes = [
        (row["failure_detail"] if row["failure"] else "", True),
        (
            "a proxy splits the connection: TCP's handshake is far shorter than TLS's",
            "split_connection",
        ),
        ("the server asked for another key share (HelloRetryRequest)", "hello_retry_request"),
        (f"{row.get('retries')} Retry", "retries"),
        (f"{row.get('extra_round_trips')} more round trips than needed", "extra_round_trips"),
        ("resumed", "resumed"),
        ("early data accepted", "early_data_accepted"),
    ]
    if row.get("early_data_offered") and not row.get("early_data_accepted"):
        notes.append(("early data rejected", True))
    return "; ".join(text for text, key in notes if text and (key is True or row.get(key)))


def _milliseconds(microseconds: int | None) -> str:
    return "" if microseconds is None else f"{microseconds / 1000:.3f}"


def _multiple(microseconds: int | None, rtt_us: float) -> str:
    return "" if microseconds is None else f"{microseconds / rtt_us:.2f}"


def _text(value: object) -> str:
    return "" if value is None else str(value)
