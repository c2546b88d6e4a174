"""Guard the cells of the CSV files that we write against formula injection (CWE-1236).

A spreadsheet executes a text that begins with one of `= + - @`, a tab or a newline as a formula,
which may start programs or send other cells away. A recording's name or a page's URL may be such a
text. So it gets a leading apostrophe; numbers, signs included, stay unchanged.
"""

import re

import polars as pl

_FORMULA = r"^'*[=+\-@\t\r\n]"
"""Prefixes that are guarded, also after an apostrophe, so that guarding can be undone."""
_HARMLESS = r"^(-|[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)$"
"""A number, or the dash that stands for no value."""


def guard_cell(cell: str) -> str:
    """Return the cell in a form that no spreadsheet takes for a formula."""
    if re.match(_FORMULA, cell) and not re.fullmatch(_HARMLESS, cell):
        return f"'{cell}"
    return cell


def unguard_cell(cell: str) -> str:
    """Undo `guard_cell`."""
    return cell[1:] if cell.startswith("'") and guard_cell(cell[1:]) == cell else cell


def to_csv(rows: pl.DataFrame) -> str:
    """Return the table as CSV, with its texts and headings guarded."""
    safe = [
        _guard_column(pl.col(name)) if kind in _TEXTS else name
        for name, kind in rows.schema.items()
    ]
    return rows.select(safe).rename(guard_cell).write_csv()


_TEXTS = (pl.String, pl.Categorical, pl.Enum)


def _guard_column(column: pl.Expr) -> pl.Expr:
    text = column.cast(pl.String)
    is_formula = text.str.contains(_FORMULA) & ~text.str.contains(_HARMLESS)
    return pl.when(is_formula).then(pl.concat_str(pl.lit("'"), text)).otherwise(text).name.keep()
