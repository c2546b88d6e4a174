"""Cumulative distributions of milliseconds, several curves in one chart."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from eyelevel.figures.chart import specification

POINTS_MAX = 400
SHOWN_PERCENTS = (0.5, 99.5)
"""The axis: single stragglers would squeeze everything else."""


def curves_chart(
    samples: Mapping[str, np.ndarray], x_title: str, names: Sequence[str]
) -> dict[str, Any]:
    """A Vega-Lite specification: one curve a name, values in milliseconds.

    `names` are those of all charts that stand together: a name's place in it is its colour.
    """
    rows = []
    for name, values in samples.items():
        ordered = np.sort(values)
        count = min(POINTS_MAX, ordered.size)
        ranks = np.unique(np.linspace(0, ordered.size - 1, count).round().astype(int))
        rows += [
            {"curve": name, "ms": round(float(ordered[r]), 3), "share": (r + 1) / ordered.size}
            for r in ranks
        ]
    bounds = [np.percentile(values, SHOWN_PERCENTS) for values in samples.values()]
    domain = [float(min(b[0] for b in bounds)), float(max(b[1] for b in bounds))]
    if domain[0] == domain[1]:
        domain = [domain[0] - 1, domain[1] + 1]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
        .encode(
            x=alt.X("ms:Q", title=x_title, scale=alt.Scale(domain=domain, nice=True)),
            y=alt.Y(
                "share:Q",
                title="share",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", tickCount=5),
            ),
            color=alt.Color("curve:N", scale=alt.Scale(domain=list(names)), legend=None),
            tooltip=[
                alt.Tooltip("curve:N", title="curve"),
                alt.Tooltip("ms:Q", format=".3f"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return specification(chart.properties(width="container", height=260))
