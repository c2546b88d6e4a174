"""The differences between stacks that can only be measured: one table of columns and titles."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Measured:
    """A column of the trials' table, with its title and format in the table of stacks."""

    aspect: str
    column: str
    text: str


MEASURED: tuple[Measured, ...] = (
    Measured("encoded head of a request, mean", "request_head_bytes", "{:.0f} bytes"),
    Measured("encoded head of a response, mean", "response_head_bytes", "{:.0f} bytes"),
    Measured("bytes in cleartext", "cleartext_share", "{:.0%}"),
    Measured("connections opened", "connections_opened", "{:.0f}"),
    Measured("connections without a request", "unused_connections", "{:.0f}"),
    Measured("bytes on connections without a request", "unused_connection_bytes", "{:,.0f} bytes"),
    Measured("packets up for each packet down", "packets_up_per_down", "{:.2f}"),
    Measured("browser's CPU time per load", "browser_cpu_s", "{:.1f} s"),
    Measured("servers' CPU time per load", "server_cpu_ms", "{:.1f} ms"),
)


def measured_rows(table: pl.DataFrame, stacks: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return each aspect with its median over the `ok` loads of each stack, or a dash."""
    counted = table.filter(pl.col("outcome") == "ok")
    rows = []
    for measured in MEASURED:
        values = []
        for stack in stacks:
            seen = counted.filter(pl.col("stack") == stack)[measured.column].drop_nulls()
            values.append(measured.text.format(seen.median()) if seen.len() else "\N{EN DASH}")
        rows.append((measured.aspect, values))
    return rows
