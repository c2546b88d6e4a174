"""The composition of a corpus's sites: Wolsing et al. 2019, figure 1; for print."""

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, specification

NAMED_MAX = 60
"""The most sites with names on the axis, so that they stay legible."""
LOGARITHMIC = alt.Scale(type="log")
_WIDTH = 620
_PANELS = (
    ("body_mb", "total size in MB", "#4f5b66", 140),
    ("objects", "objects", "#8c7f73", 110),
    ("server_addresses", "server addresses", "#a8341b", 110),
)


def corpus_points(rows: pl.DataFrame) -> JsonObject:
    """Draw a point per site for its bytes, objects and server addresses, by rising bytes.

    `rows`: `site`, `body_bytes`, `objects`, `server_addresses`. The scales are logarithmic, since a
    corpus spans three decades; so there are points and no bars, which would have no origin.
    """
    ranked = rows.sort("body_bytes", "site").with_columns(
        place=pl.int_range(1, pl.len() + 1), body_mb=pl.col("body_bytes") / 1e6
    )
    names = ranked["site"].to_list()
    data = inline(ranked, "site", "place", *(panel[0] for panel in _PANELS))
    is_named = len(names) <= NAMED_MAX
    panels = []
    for number, (column, title, colour, height) in enumerate(_PANELS):
        is_last = number == len(_PANELS) - 1
        label = f"{len(names)} sites, by total size" if is_last else None
        axis = alt.Axis(labels=is_named and is_last, ticks=False, labelAngle=-60, labelLimit=140)
        panels.append(
            alt.Chart(data)
            .mark_point(color=colour, filled=True, opacity=0.9, size=50 if is_named else 9)
            .encode(
                x=alt.X("site:N", sort=names, title=label, axis=axis),
                y=alt.Y(f"{column}:Q", title=title, scale=LOGARITHMIC),
            )
            .properties(width=_WIDTH, height=height)
        )
    return specification(alt.vconcat(*panels, spacing=8))
