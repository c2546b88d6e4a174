"""Read Parquet tables up to a limit of rows, and only the requested columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

if TYPE_CHECKING:
    import polars as pl


def read_parquet(path: Path, columns: Sequence[str], source: Source) -> "pl.DataFrame":
    """Return those of the columns that exist.

    Raises the source's error for a damaged or too long table.
    """
    import polars as pl

    try:
        if path.stat().st_size > source.limit.bytes_max:
            raise source.too_long()
        table = pl.scan_parquet(path, glob=False)
        there = table.collect_schema().names()
        rows = table.select(pl.len()).collect().item()
        if rows > source.limit.values_max:
            raise source.too_many()
        return table.select([name for name in columns if name in there]).collect()
    except OSError as error:
        raise source.unreadable(error) from error
    # A panic in polars is not an `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        reason = next(iter(str(error).splitlines()), "no reason given")
        raise source.refusal(f"damaged, no whole Parquet ({excerpt(reason)})") from error
