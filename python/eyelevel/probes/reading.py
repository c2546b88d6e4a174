"""Read files of probes: our JSON lines, Parquet and CSV, and the thesis's CSVs."""

import ipaddress
import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from eyelevel.errors import ProbeError
from eyelevel.json_types import JsonMapping, JsonObject
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
"""The header of tls_perf's and quic_perf's output (the thesis, section 3.4), semicolons between."""

SCHEMA = {
    "file": pl.String,
    "vantage": pl.String,
    "family": pl.String,
    "host": pl.String,
    "at_s": pl.Float64,
    "protocol": pl.String,
    "version": pl.String,
    "connection_ms": pl.Float64,
    "tcp_ms": pl.Float64,
    "dns_ms": pl.Float64,
    "resumed": pl.Boolean,
    "split": pl.Boolean,
    "failure": pl.String,
}
"""What the analysis needs of a row, rows in file order; times in milliseconds, `at_s` Unix time."""


def read_files(paths: Iterable[Path]) -> list[pl.DataFrame]:
    """Every file as a table of SCHEMA. Raises ProbeError naming the file and line."""
    return [read_file(path) for path in paths]


def read_file(path: Path) -> pl.DataFrame:
    """Read one file, whose form its content tells, not its name. Raises ProbeError."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4)
    except OSError as error:
        raise ProbeError(f"cannot read {path}: {error.strerror}") from error
    if head == b"PAR1":
        return _table(path, _parquet_rows(path))
    text = path.read_text(encoding="utf-8", errors="replace")
    if text.lstrip().startswith("{"):
        table = _table(path, _json_rows(path, text))
        if table.is_empty():
            raise ProbeError(f"{path} holds no rows of probes")
        return table
    return _table(path, _thesis_rows(path, text))


def family_of(address: str | None) -> str | None:
    """`v4` or `v6`; None if there is no address."""
    try:
        return f"v{ipaddress.ip_address(address).version}" if address else None
    except ValueError:
        return None


def _table(path: Path, rows: Iterable[JsonObject]) -> pl.DataFrame:
    return pl.DataFrame([{"file": str(path)} | row for row in rows], schema=SCHEMA)


def _json_rows(path: Path, text: str) -> Iterable[JsonObject]:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return  # A row that was cut off when its writer was stopped.
            raise ProbeError(f"{path}, line {number}: no JSON: {error}") from error
        if isinstance(row, dict) and row.get("event") == "attempt":
            yield _of_row(row, f"{path}, line {number}")


def _parquet_rows(path: Path) -> Iterable[JsonObject]:
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ProbeError(f"{path}: damaged Parquet: {reason}") from error
    for number, row in enumerate(table.iter_rows(named=True), 1):
        yield _of_row(row, f"{path}, row {number}")


def _of_row(row: JsonMapping, place: str) -> JsonObject:
    def milliseconds(name: str) -> float | None:
        value = row.get(name)
        if value is not None and not isinstance(value, int | float):
            raise ProbeError(f"{place}: {name} is no number")
        return None if value is None else value / 1000

    for name in ("host", "protocol"):
        if not isinstance(row.get(name), str):
            raise ProbeError(f"{place}: no row of a probe: it has no {name}")
    return {
        "vantage": row.get("vantage"),
        "family": family_of(row.get("address")),
        "host": row.get("host"),
        "at_s": (milliseconds("at_unix_us") or 0) / 1e3,
        "protocol": row.get("protocol"),
        "version": row.get("version"),
        "connection_ms": milliseconds("connection_us"),
        "tcp_ms": milliseconds("tcp_handshake_us"),
        "dns_ms": milliseconds("dns_us"),
        "resumed": bool(row.get("resumed")),
        "split": bool(row.get("split_connection")),
        "failure": row.get("failure"),
    }


def _thesis_rows(path: Path, text: str) -> Iterable[JsonObject]:
    lines = text.splitlines()
    if not lines or not lines[0].startswith("DnsLookupTime;"):
        raise ProbeError(
            f"{path} is neither JSON lines, Parquet nor a CSV with the header "
            f"{';'.join(THESIS_COLUMNS)}"
        )
    vantage = path.stem.split("_")[0] if "_v4_" in path.stem or "_v6_" in path.stem else None
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = line.split(";")
        if len(cells) != len(THESIS_COLUMNS):
            raise ProbeError(f"{path}, line {number}: {len(cells)} columns instead of 10")
        try:
            yield _of_thesis(vantage, *cells)
        except ValueError as error:
            raise ProbeError(f"{path}, line {number}: {error}") from error


def _of_thesis(vantage: str | None, *cells: str) -> JsonObject:
    dns, at_s, host, _path, address, _port, connection, _status, protocol, tcp = cells
    return {
        "vantage": vantage,
        "family": family_of(address),
        "host": host,
        "at_s": float(at_s),
        "protocol": protocol_of(protocol),
        "version": protocol,
        "connection_ms": float(connection) if connection else None,
        "tcp_ms": float(tcp) if tcp else None,
        "dns_ms": float(dns) if dns else None,
        "resumed": False,
        "split": None,
        "failure": None,
    }
