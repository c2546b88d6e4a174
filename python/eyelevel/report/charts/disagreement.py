"""Wolsing et al. 2019, figure 4: filmstrips of loads whose metrics disagree."""

import altair as alt
import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import inline, layer_charts, specification

PICTURE_PX = 100


def strips_chart(rows: pl.DataFrame) -> JsonObject:
    """Draw a strip per stack below the finding that it belongs to.

    `rows`: `finding` (clauses with `; ` between), `stack`, `seconds`, `url` (a data URL).
    """
    parts = []
    for (finding,), of_finding in rows.partition_by(
        "finding", as_dict=True, maintain_order=True
    ).items():
        base = alt.Chart(inline(of_finding, "stack", "seconds", "url")).encode(
            x=alt.X("seconds:O", title="seconds", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "stack:N",
                title=None,
                sort=of_finding["stack"].unique(maintain_order=True).to_list(),
            ),
        )
        # A frame that is still white would be invisible on white paper.
        frames = base.mark_rect(fill="white", stroke="#9aa19d", strokeWidth=0.5)
        pictures = base.mark_image(width=PICTURE_PX, height=PICTURE_PX).encode(url="url:N")
        parts.append(
            layer_charts(frames, pictures).properties(
                width=alt.Step(PICTURE_PX + 6),
                height=alt.Step(PICTURE_PX * 0.62),
                title=alt.TitleParams(str(finding).split("; "), anchor="start", fontSize=12),
            )
        )
    return specification(alt.vconcat(*parts))
