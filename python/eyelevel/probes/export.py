"""Write rows of probes in other formats: the thesis's CSV, our CSV, Parquet."""

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from eyelevel.base.json_types import JsonMapping
from eyelevel.probes.protocols import THESIS_NAMES
from eyelevel.probes.reading import THESIS_COLUMNS
from eyelevel.store.cells import guard_cell
from eyelevel.store.disk import whole_file, writing

_INT, _TEXT, _BOOL = pl.Int64(), pl.String(), pl.Boolean()

COLUMNS: dict[str, tuple[pl.DataType, str]] = {
    "event": (_TEXT, "`attempt`"),
    "vantage": (_TEXT, "where from: `--vantage`"),
    "host": (_TEXT, "the requested name or address"),
    "port": (_INT, "its port"),
    "path": (_TEXT, "of the request"),
    "protocol": (_TEXT, "`tcp`, `tls1.2`, `tls1.3`, `quic` or `quic-v2`"),
    "attempt": (_INT, "the number of the attempt over its protocol and family, from 0"),
    "order": (_INT, "its place in the host's random order, from 0"),
    "at_unix_us": (_INT, "Unix time at its beginning: a label"),
    "at_ns": (_INT, "`CLOCK_MONOTONIC` at its beginning: every duration counts from here"),
    "address": (_TEXT, "the server's IP address"),
    "cnames": (
        pl.List(pl.String()),
        "the names that `host` stands for (CNAME), in order; null: it was not looked up",
    ),
    "local_port": (_INT, "the port sent from"),
    "dns_us": (
        _INT,
        "once for each host and family, in no other time; null: nobody was asked",
    ),
    "tcp_handshake_us": (_INT, "from SYN to SYN-ACK, as the kernel measured if no SYN was lost"),
    "tls_handshake_us": (_INT, "from the ClientHello to the end of TLS's handshake"),
    "quic_handshake_us": (_INT, "from the first Initial to the end of the handshake"),
    "connection_us": (_INT, "all handshakes together: TCP's and TLS's, or QUIC's"),
    "first_request_byte_us": (_INT, "until the request's first byte went out"),
    "first_byte_us": (_INT, "until the response's head had arrived"),
    "rtt_us": (_INT, "TCP: the kernel's estimate; QUIC: to the first answer"),
    "round_trips": (_INT, "waits for the server until the connection was complete, TCP's included"),
    "extra_round_trips": (
        _INT,
        "of these, not needed and not explained by Retry or "
        "HelloRetryRequest: a certificate beyond QUIC's threefold limit, or loss",
    ),
    "http_status": (_INT, "of the response"),
    "http_version": (_TEXT, "`http/1.1`, `h2` or `h3`"),
    "alt_svc": (_TEXT, "the field `Alt-Svc` of the response, its first 500 bytes"),
    "server": (_TEXT, "the field `Server` of the response, its first 500 bytes"),
    "version": (_TEXT, "`TCP`, `TLSv1_2`, `TLSv1_3`, or QUIC's `1` or `2`"),
    "cipher": (_TEXT, "the cipher suite"),
    "key_exchange": (_TEXT, "the key exchange group"),
    "key_exchange_kind": (_TEXT, "`classical` or `post-quantum`"),
    "certificate_bytes": (_INT, "of the server's chain as DER"),
    "sent_bytes": (_INT, "payload of TCP or UDP sent until the handshake was complete"),
    "sent_pieces": (_INT, "datagrams of UDP, writes to TCP"),
    "received_bytes": (_INT, "payload that arrived until then"),
    "received_pieces": (_INT, "datagrams of UDP, reads from TCP"),
    "syn_retransmits": (_INT, "SYNs sent again"),
    "retries": (_INT, "valid Retry packets of QUIC: 0 or 1"),
    "hello_retry_request": (_BOOL, "the server asked for another key share"),
    "version_negotiation": (_BOOL, "the server answered with Version Negotiation"),
    "versions_offered": (pl.List(pl.String()), "the QUIC versions in it"),
    "first_of_pair": (
        _BOOL,
        "a full handshake whose session the next row, of the same `attempt` and `order`, resumes",
    ),
    "resumption_offered": (_BOOL, "a session made before was offered"),
    "resumed": (_BOOL, "and was resumed"),
    "early_data_offered": (_BOOL, "the request went out as early data, QUIC's 0-RTT"),
    "early_data_accepted": (_BOOL, "and was accepted"),
    "split_connection": (_BOOL, "TCP's handshake is far shorter than every later answer"),
    "crypto_us": (_INT, "inside the TLS library during the handshake, on this side"),
    "stamp_delay_us": (
        pl.Float64(),
        "from arrivals that were waited for until they were read: in no handshake's time if "
        "`kernel_stamps` holds",
    ),
    "kernel_stamps": (_BOOL, "the arrivals' times are the kernel's"),
    "failure": (_TEXT, "the class of the failure; null: the attempt succeeded"),
    "failure_detail": (_TEXT, "what the server, or the system, said"),
    "path_rtt_ms": (pl.Float64(), "in a lab: the emulated path's round-trip time"),
}
"""Type and meaning of each column, in the order of the data plane's rows. Times in `_us` are
microseconds, null if the step was not reached.
"""


PARQUET_SCHEMA = {name: kind for name, (kind, _) in COLUMNS.items()}
GROUP_ROWS = 50_000
"""Rows per row group, some 20 MB."""


def to_thesis_csv(rows: Iterable[JsonMapping], *, header: bool = True) -> str:
    """Return rows of `eyelevel probe` as CSV with the thesis's columns, separated by semicolons.

    As in its files, times are milliseconds with three decimals, failed attempts are left out, and
    the TCP handshake's time is given only for TCP. The format cannot mark resumption: of each pair
    only the resumed handshake is written.
    """
    text = io.StringIO()
    lines = csv.writer(text, delimiter=";", lineterminator="\n")
    if header:
        lines.writerow(THESIS_COLUMNS)
    for row in rows:
        if row.get("failure") is not None or row.get("connection_us") is None:
            continue
        if row.get("first_of_pair"):
            continue
        cells = (
            _milliseconds(row.get("dns_us")),
            str(row["at_unix_us"] // 1_000_000),
            guard_cell(str(row["host"])),
            guard_cell(str(row["path"])),
            str(row["address"]),
            str(row["port"]),
            _milliseconds(row["connection_us"]),
            "" if row.get("http_status") is None else str(row["http_status"]),
            THESIS_NAMES[row["protocol"]],
            _milliseconds(row.get("tcp_handshake_us")),
        )
        lines.writerow(cells)
    return text.getvalue()


def to_csv(rows: Iterable[JsonMapping], *, header: bool = True) -> str:
    """Return rows of `eyelevel probe` as CSV with all columns, failed attempts included.

    Null is an empty cell, names in a list are separated by spaces, booleans are `true` or `false`.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    if header:
        lines.writerow(COLUMNS)
    for row in rows:
        lines.writerow(_cell(row.get(name)) for name in COLUMNS)
    return text.getvalue()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return guard_cell(" ".join(map(str, value)))
        case str():
            return guard_cell(value)
    return str(value)


_NEW_OR_OURS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
"""Flags for opening an output file; a symbolic link in its place is refused."""


class ParquetRows:
    """Writes rows to one Parquet file, with at most one row group in memory.

    They are written to a file of JSON lines next to it, which `close` converts. If the process is
    killed, that file stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines_path = path.with_name(path.name + ".rows")
        with writing(path):
            descriptor = os.open(self._lines_path, _NEW_OR_OURS, 0o666)
        self._lines = os.fdopen(descriptor, "w", encoding="utf-8")
        self._has_rows = False

    def take(self, row: JsonMapping) -> None:
        """Write one row."""
        self._lines.write(json.dumps(row) + "\n")
        self._has_rows = True

    def close(self) -> None:
        """Write the Parquet file; without rows there is none."""
        self._lines.close()
        if self._has_rows:
            lines = pl.scan_ndjson(self._lines_path, schema=PARQUET_SCHEMA)
            with whole_file(self._path) as stream:
                lines.sink_parquet(stream.name, row_group_size=GROUP_ROWS)
        self._lines_path.unlink()


def write_parquet(rows: Iterable[JsonMapping], path: Path) -> None:
    """Write all documented columns of the rows to a Parquet file."""
    writer = ParquetRows(path)
    for row in rows:
        writer.take(row)
    writer.close()


def _milliseconds(microseconds: int | None) -> str:
    return "" if microseconds is None else f"{microseconds / 1000:.3f}"
