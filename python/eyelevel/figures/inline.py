"""Rows inside a chart's specification."""

import altair as alt
import polars as pl

DIGITS = 6  # of a number; more only make a page larger


def inline(rows: pl.DataFrame, *columns: str) -> alt.InlineData:
    """The named columns, or all, as CSV: half the size of objects."""
    chosen = rows.select(columns) if columns else rows
    numbers = [name for name, kind in chosen.schema.items() if kind.is_float()]
    parse = {
        name: "number" if kind.is_numeric() else "string" for name, kind in chosen.schema.items()
    }
    text = chosen.with_columns(pl.col(numbers).round_sig_figs(DIGITS)).write_csv()
    return alt.InlineData(values=text, format=alt.CsvDataFormat(type="csv", parse=parse))
