"""Write rows as a table, as the thesis's CSV, as JSON lines, or as Parquet.

Print servers' responses for `probe --print`, with control characters escaped.
"""

from collections import Counter
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from eyelevel.base.from_outside.words import escape_control_characters
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.output import json_text, results, table
from eyelevel.cli.probe.progress import mend
from eyelevel.probes.export import ParquetRows, to_csv, to_thesis_csv
from eyelevel.probes.summary import Summary
from eyelevel.store.disk import writing

Row = JsonMapping


class Form(Enum):
    """Format in which rows are printed."""

    TABLE = "table"
    CSV = "csv"
    THESIS_CSV = "thesis-csv"
    JSON = "json"

    @classmethod
    def of(cls, *, csv: bool, thesis_csv: bool, json: bool) -> Self:
        """Return the format that the options select; at most one of them may be given."""
        given = {"csv": csv, "thesis-csv": thesis_csv, "json": json}
        return cls(next((name for name, is_given in given.items() if is_given), "table"))


TIMES = (
    ("dns", "dns_us"),
    ("tcp", "tcp_handshake_us"),
    ("tls", "tls_handshake_us"),
    ("quic", "quic_handshake_us"),
    ("total", "connection_us"),
    ("first byte", "first_byte_us"),
)
MULTIPLES = (*TIMES[1:5], ("request", "first_request_byte_us"), TIMES[5])
"""Times shown as multiples of the round trip, without DNS, which is answered on this side of
the path.
"""


def show(rows: Iterable[Row]) -> None:
    """Print a table per address; in a lab also one in multiples of the path's round trip."""
    groups: dict[tuple[str, int, str | None], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["host"], row["port"], row["address"]), []).append(row)
    for (host, port, address), group in groups.items():
        where = "" if port == 443 else f", port {port}"
        of = f" ({address})" if address and address != host else ""
        results.print(f"{host}{of}{where}, times in ms", markup=False, style="bold")
        is_any = any(row[key] is not None for row in group for _, key in TIMES)
        if is_any:
            results.print(_times(group))
        rtt_ms = group[0].get("path_rtt_ms")
        if is_any and rtt_ms:
            title = f"the same in round trips of the path, {rtt_ms:g} ms each"
            results.print(title, markup=False, style="bold")
            results.print(_multiples(group, 1000 * rtt_ms))
        notes = Counter((row["protocol"], note) for row in group if (note := _note(row)))
        for (protocol, note), count in notes.items():
            times = f" ({count} times)" if count > 1 else ""
            results.print(f"{protocol}: {note}{times}", markup=False, soft_wrap=True)


def show_summary(summary: Summary) -> None:
    """Print medians by host and protocol, and the failures with their most frequent class."""
    numbers = ("attempts", "failed", "connected", "first byte")
    results.print("by host, medians in ms", markup=False, style="bold")
    listing = table("host", "protocol", *numbers, "failures", right=numbers, whole=("host",))
    for line in summary.lines():
        times = (line.connection_us, line.first_byte_us)
        medians = ["" if each is None else f"{each / 1000:.2f}" for each in times]
        failed = str(line.failed) if line.failed else ""
        listing.add_row(
            line.host, line.protocol, str(line.attempts), failed, *medians, line.classes
        )
    results.print(listing)


def _times(rows: list[Row]) -> object:
    titles = [title for title, _ in TIMES]
    numbers = (*titles, "trips", "status")
    listing = table(*_varying_columns(rows), *numbers, right=numbers)
    for row in rows:
        times = [_number(row[key], 1000) for _, key in TIMES]
        of = _varying_values(row, rows)
        listing.add_row(*of, *times, _text(row["round_trips"]), _text(row["http_status"]))
    return listing


def _multiples(rows: list[Row], rtt_us: float) -> object:
    titles = tuple(title for title, _ in MULTIPLES)
    listing = table(*_varying_columns(rows), *titles, right=titles)
    for row in rows:
        listing.add_row(
            *_varying_values(row, rows), *(_number(row[key], rtt_us) for _, key in MULTIPLES)
        )
    return listing


def _varying_columns(rows: list[Row]) -> tuple[str, ...]:
    return ("protocol", "handshake") if any(row["first_of_pair"] for row in rows) else ("protocol",)


def _varying_values(row: Row, rows: list[Row]) -> tuple[str, ...]:
    """Return a row's values for the columns in `_varying_columns`.

    A row without a connection had no handshake.
    """
    if len(_varying_columns(rows)) == 1:
        return (row["protocol"],)
    return row["protocol"], "" if row["connection_us"] is None else _handshake(row)


def _handshake(row: Row) -> str:
    return "0-RTT" if row["early_data_accepted"] else "resumed" if row["resumed"] else "full"


def _note(row: Row) -> str:
    """Return remarks that do not fit in the table's columns."""
    notes = [
        (f"{row['failure']}: {row['failure_detail']}", row["failure"]),
        (
            (
                "TCP's handshake is far shorter than every later answer: a proxy splits the "
                "connection, or the server is slow to answer"
            ),
            row["split_connection"],
        ),
        (
            "the server asked for another key share (HelloRetryRequest)",
            row["hello_retry_request"],
        ),
        ("the server demanded a Retry", row["retries"]),
        (f"{row['extra_round_trips']} more round trips than needed", row["extra_round_trips"]),
        ("not resumed", row["resumption_offered"] and not row["resumed"] and not row["failure"]),
        ("early data accepted", row["early_data_accepted"]),
        ("early data rejected", row["early_data_offered"] and not row["early_data_accepted"]),
    ]
    return "; ".join(text for text, holds in notes if holds)


def _number(microseconds: int | None, unit_us: float) -> str:
    return "" if microseconds is None else f"{microseconds / unit_us:.2f}"


def _text(value: object) -> str:
    return "" if value is None else str(value)


class Sink:
    """Writes rows one at a time and at once, except to tables and Parquet."""

    def __init__(self, out: IO[str] | None, parquet: Path | None, form: Form = Form.TABLE) -> None:
        self._out = out
        self._parquet = ParquetRows(parquet) if parquet else None
        self._form = form
        self._summary = Summary()
        self._has_header = False
        self._shown: list[JsonObject] = []
        self._last: JsonObject = {"first_of_pair": False, "resumption_offered": False}
        self.attempts = self.failures = 0
        self.last_failure = ""
        """Host, protocol and failure of the last failed attempt."""

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
        """Write one row, or print the server's response (`--print`)."""
        if is_row := row["event"] == "attempt":
            self._last = row
            self._count(row)
        line = json_text(row)
        if self._out is not None:
            # Flush, so that no measured row is lost with this process.
            self._out.write(line + "\n")
            self._out.flush()
        if self._parquet is not None and is_row:
            self._parquet.take(row)
        if not is_row and self._form is not Form.JSON:
            # The response is printed after its row.
            is_of_two = self._last["first_of_pair"] or self._last["resumption_offered"]
            show_answer(row, _handshake(self._last) if is_of_two else "")
        elif self._form is Form.JSON:
            print(line, flush=True)
        elif self._form is Form.TABLE:
            self._shown.append(row)
            self._summary.take(row)
        else:
            written = to_csv if self._form is Form.CSV else to_thesis_csv
            print(written([row], header=not self._has_header), end="", flush=True)
            self._has_header = True

    def _count(self, row: JsonObject) -> None:
        self.attempts += 1
        if row["failure"]:
            self.failures += 1
            what = f"{row['failure']}: {row['failure_detail']}"
            self.last_failure = f"{row['host']} over {row['protocol']}, {what}"

    @property
    def has_file(self) -> bool:
        """Whether rows go to a file that can be resumed."""
        return self._out is not None

    def mark(self, event: JsonObject) -> None:
        """Write a marker line between rows, to the file only; readers of rows skip it."""
        if self._out is not None:
            self._out.write(json_text(event) + "\n")
            self._out.flush()

    def round_over(self) -> None:
        """Print the results of a round."""
        if self._shown:
            show(self._shown)
            self._shown.clear()

    def all_over(self) -> None:
        """Print one line per host and protocol if any has more than one attempt."""
        if self._form is Form.TABLE and self._summary.is_worth_showing:
            show_summary(self._summary)


def make_sink(out: Path | None, parquet: Path | None, form: Form) -> Sink:
    """Open the output files. Raises `WriteError`."""
    stream = None
    if out is not None:
        mend(out)
        with writing(out):
            stream = out.open("a", encoding="utf-8")
    return Sink(stream, parquet, form)


def show_answer(answer: JsonMapping, handshake: str = "") -> None:
    """Print a response's origin and head, an empty line, and the beginning of its body.

    `handshake` names the connection, for an attempt with two.
    """
    where = "" if answer["port"] == 443 else f":{answer['port']}"
    attempt = f"attempt {answer['attempt'] + 1}" + (f", {handshake}" if handshake else "")
    target = f"{answer['host']}{where}{answer['path']} ({answer['address']})"
    _line(f"{target}, {answer['protocol']}, {attempt}", style="bold")
    reason = f" {answer['reason']}" if answer["reason"] else ""
    _line(f"{answer['http']} {answer['status']}{reason}")
    for name, value in answer["fields"]:
        _line(f"{name}: {value}")
    if answer["fields_left_out"]:
        _line(f"({answer['fields_left_out']} more fields)", style="dim")
    _line("")
    for line in answer["body"].splitlines():
        _line(line.expandtabs())
    if not answer["body_whole"]:
        _line("(the body goes on)", style="dim")
    elif not answer["body"]:
        _line("(no body)", style="dim")
    _line("")


def _line(text: str, style: str = "") -> None:
    results.print(escape_control_characters(text, keep=""), style=style, soft_wrap=True)
