"""Read files of probes: our JSON lines, Parquet and CSV, and the thesis's CSVs.

Describe the measured data, one row per file, as in table 3.1 of the thesis.
"""

import ipaddress
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import polars as pl

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of, read_head
from eyelevel.base.from_outside.json_text import parse_json
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PARQUET, PROBES
from eyelevel.base.from_outside.parquet import read_parquet
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.probes.protocols import protocol_of

THESIS_COLUMNS = (
    "DnsLookupTime",
    "TimeOfMeasurement",
    "Url",
    "Path",
    "Ip",
    "Port",
    "ConnectionEstablishmentTime",
    "HttpResponse",
    "Protocol",
    "TcpHandshakeTimeOptional",
)
"""Header of tls_perf's and quic_perf's output (the thesis, section 3.4), separated by
semicolons.
"""

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "file": pl.String,
    "vantage": pl.String,
    "family": pl.String,
    "host": pl.String,
    "address": pl.String,
    "cnames": pl.List(pl.String),
    "server": pl.String,
    "at_s": pl.Float64,
    "protocol": pl.String,
    "version": pl.String,
    "connection_ms": pl.Float64,
    "tcp_ms": pl.Float64,
    "dns_ms": pl.Float64,
    "first_byte_ms": pl.Float64,
    "resumed": pl.Boolean,
    "resumption_offered": pl.Boolean,
    "early_data_offered": pl.Boolean,
    "early_data_accepted": pl.Boolean,
    "split": pl.Boolean,
    "failure": pl.String,
}
"""Columns that the analysis needs, in file order; times in milliseconds, `at_s` in Unix time."""

NEEDED = ("host", "protocol")
TEXTS = (*NEEDED, "probed_server", "vantage", "address", "server", "version", "failure")
HANDSHAKES = ("resumed", "resumption_offered", "early_data_offered", "early_data_accepted")
ROW_KEYS = (
    *TEXTS,
    "cnames",
    *("at_unix_us", "connection_us", "tcp_handshake_us", "dns_us", "first_byte_us"),
    *HANDSHAKES,
    "split_connection",
)
"""Keys that are read of a row written by the prober."""


def read_files(paths: Iterable[Path]) -> list[pl.DataFrame]:
    """Read every file as a table of SCHEMA. Raises `ProbeError` naming file and line."""
    return [read_file(path) for path in paths]


def read_file(path: Path) -> pl.DataFrame:
    """Read one file, whose format is detected by content, not name. Raises `ProbeError`."""
    source = Source(str(path), PROBES, ProbeError)
    if read_head(path, source, 4) == b"PAR1":
        return _table(path, _parquet_rows(path))
    lines = lines_of(path, source, LINE_BYTES_MAX)
    first = next(((number, line) for number, line in lines if line.strip()), (1, ""))
    rest = chain((first,), lines)
    if first[1].lstrip().startswith("{"):
        table = _table(path, _json_rows(source, rest))
        if table.is_empty():
            raise ProbeError(
                f"{path} holds no rows of probes; give what `eyelevel probe --out` wrote"
            )
        return table
    return _table(path, _thesis_rows(path, rest))


def family_of(address: str | None) -> str | None:
    """Return `v4` or `v6`; None without a valid address."""
    try:
        return f"v{ipaddress.ip_address(address).version}" if address else None
    except ValueError:
        return None


def _table(path: Path, rows: Iterable[JsonObject]) -> pl.DataFrame:
    return pl.DataFrame([{"file": str(path)} | row for row in rows], schema=SCHEMA)


def _json_rows(source: Source, lines: Iterable[tuple[int, str]]) -> Iterable[JsonObject]:
    broken: Exception | None = None
    for number, line in lines:
        if not line.strip():
            continue
        if broken is not None:
            raise broken
        place = f"{source.name}, line {number}"
        try:
            row = parse_json(line.encode(), Source(place, DOCUMENT, ProbeError))
        except ProbeError as error:
            broken = error  # the last line may have been cut off when its writer was stopped
            continue
        if isinstance(row, dict) and row.get("event") == "attempt":
            yield _of_row(row, place)


def _parquet_rows(path: Path) -> Iterable[JsonObject]:
    table = read_parquet(path, ROW_KEYS, Source(str(path), PARQUET, ProbeError))
    for number, row in enumerate(table.iter_rows(named=True), 1):
        yield _of_row(row, f"{path}, row {number}")


def _of_row(row: JsonMapping, place: str) -> JsonObject:
    def milliseconds(name: str) -> float | None:
        value = row.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
            raise ProbeError(f"{place}: {name} is not a number; write it as the prober does")
        return value / 1000

    for name in TEXTS:
        value = row.get(name)
        if not isinstance(value, str) and (value is not None or name in NEEDED):
            fault = "it has no" if value is None else "no text is its"
            raise ProbeError(f"{place}: no row of a probe: {fault} {name}; drop the line")
    cnames = row.get("cnames")
    if cnames is not None and not _are_texts(cnames):
        raise ProbeError(f"{place}: cnames is not a list of names; write it as the prober does")
    return {
        "vantage": row.get("vantage"),
        "family": family_of(row.get("address")),
        "host": row.get("probed_server") or row.get("host"),
        "address": row.get("address"),
        "cnames": cnames,
        "server": row.get("server"),
        "at_s": (milliseconds("at_unix_us") or 0) / 1e3,
        "protocol": row.get("protocol"),
        "version": row.get("version"),
        "connection_ms": milliseconds("connection_us"),
        "tcp_ms": milliseconds("tcp_handshake_us"),
        "dns_ms": milliseconds("dns_us"),
        "first_byte_ms": milliseconds("first_byte_us"),
        **{name: bool(row.get(name)) for name in HANDSHAKES},
        "split": bool(row.get("split_connection")),
        "failure": row.get("failure"),
    }


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _thesis_rows(path: Path, lines: Iterable[tuple[int, str]]) -> Iterable[JsonObject]:
    rows = iter(lines)
    if not next(rows)[1].startswith("DnsLookupTime;"):
        raise ProbeError(
            f"{path} is neither JSON lines, Parquet nor a CSV with the header "
            f"{';'.join(THESIS_COLUMNS)}; give what `eyelevel probe --out` wrote"
        )
    vantage = path.stem.split("_")[0] if "_v4_" in path.stem or "_v6_" in path.stem else None
    for number, line in rows:
        if not line.strip():
            continue
        cells = line.split(";")
        if len(cells) != len(THESIS_COLUMNS):
            raise ProbeError(
                f"{path}, line {number}: {len(cells)} columns instead of 10; drop the line"
            )
        try:
            yield _of_thesis(vantage, *cells)
        except ValueError as error:
            raise ProbeError(f"{path}, line {number}: {excerpt(error)}; drop the line") from error


def _of_thesis(vantage: str | None, *cells: str) -> JsonObject:
    dns, at_s, host, _path, address, _port, connection, _status, protocol, tcp = cells
    return {
        "vantage": vantage,
        "family": family_of(address),
        "host": host,
        "address": address or None,
        "cnames": None,
        "server": None,
        "at_s": _number(at_s),
        "protocol": protocol_of(protocol),
        "version": protocol,
        "connection_ms": _number(connection) if connection else None,
        "tcp_ms": _number(tcp) if tcp else None,
        "dns_ms": _number(dns) if dns else None,
        "first_byte_ms": None,
        **dict.fromkeys(HANDSHAKES, False),
        "split": None,
        "failure": None,
    }


def _number(cell: str) -> float:
    value = float(cell)
    if not math.isfinite(value):
        raise ValueError(f"{cell} is not a finite number")
    return value


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
