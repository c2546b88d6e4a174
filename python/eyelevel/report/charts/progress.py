"""Progress curves: the visual progress over time, a panel per network and site."""

from collections.abc import Sequence
from typing import Literal

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, specification

COLUMNS = 3
WIDTH_PX = 200
HEIGHT_PX = 110


def progress_chart(
    rows: pl.DataFrame, stacks: Sequence[str], line: Literal["linear", "step-after"]
) -> JsonObject:
    """Draw one line per stack in each panel, in the order of the rows.

    `rows`: `network`, `site`, `stack`, `seconds`, `share` (0 to 1). `stacks`: all of the study,
    which determine the colours. `line`: the interpolation between points, for means or for one
    load's steps.
    """
    titled = rows.with_columns(panel=pl.format("{} on {}", "site", "network"))
    panels = titled["panel"].unique(maintain_order=True).to_list()
    present = [stack for stack in stacks if stack in set(rows["stack"])]
    chart = (
        alt.Chart(inline(titled, "panel", "stack", "seconds", "share"))
        .mark_line(interpolate=line, strokeWidth=1.6)
        .encode(
            x=alt.X("seconds:Q", title="seconds", axis=alt.Axis(tickCount=4)),
            y=alt.Y(
                "share:Q",
                title="visual progress",
                axis=alt.Axis(format=".0%", tickCount=3),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "stack:N",
                title=None,
                scale=alt.Scale(domain=list(stacks)),
                legend=alt.Legend(values=present, orient="top"),
            ),
        )
        .properties(width=WIDTH_PX, height=HEIGHT_PX)
    )
    facet = alt.Facet("panel:N", sort=panels, title=None)
    panelled = chart.facet(facet=facet, columns=min(COLUMNS, len(panels)))
    return specification(panelled.resolve_scale(x="independent"))
