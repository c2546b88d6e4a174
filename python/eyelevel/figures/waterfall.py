"""What two typical loads asked for, and when: beside a difference, where it arises."""

from typing import Any

import altair as alt
import polars as pl

from eyelevel.figures.chart import inline, largest, specification

ROW_PX = 11
PHASES = {"waiting": "#c9a227", "receiving": "#0f6fb4"}


def waterfall(rows: pl.DataFrame) -> dict[str, Any]:
    """A bar an object, in the order of their start; a panel a load.

    `rows`: `load` (the panel), `place` (from 0), `name`, `phase` (of PHASES), `start_s`, `end_s`.
    """
    last_s = largest(rows["end_s"])
    panels = []
    for (load,), of_load in rows.partition_by("load", as_dict=True, maintain_order=True).items():
        chart = (
            alt.Chart(inline(of_load, "place", "name", "phase", "start_s", "end_s"))
            .mark_bar(height=ROW_PX - 3)
            .encode(
                x=alt.X("start_s:Q", title="seconds", scale=alt.Scale(domain=[0, last_s])),
                x2="end_s:Q",
                y=alt.Y("place:O", axis=None),
                color=alt.Color(
                    "phase:N",
                    title=None,
                    scale=alt.Scale(domain=list(PHASES), range=list(PHASES.values())),
                ),
                tooltip=["name:N", "phase:N", "start_s:Q", "end_s:Q"],
            )
            .properties(
                width=420,
                height=alt.Step(ROW_PX),
                title=alt.TitleParams(str(load), anchor="start", fontSize=12),
            )
        )
        panels.append(chart)
    return specification(alt.hconcat(*panels))
