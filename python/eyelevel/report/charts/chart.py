"""Rows inside a chart's specification, and a chart as a file for a paper (pure)."""

import base64
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import altair as alt
import polars as pl
import vl_convert
from PIL import Image

from eyelevel.base.json_types import JsonObject

PNG_SCALE = 2.0
WEBP = re.compile("data:image/webp;base64,([A-Za-z0-9+/=]+)")

FORMATS: Mapping[str, Callable[[JsonObject], bytes]] = {
    "svg": lambda chart: vl_convert.vegalite_to_svg(_with_png(chart)).encode(),
    "pdf": lambda chart: vl_convert.vegalite_to_pdf(_with_png(chart)),
    "png": lambda chart: vl_convert.vegalite_to_png(_with_png(chart), scale=PNG_SCALE),
}
"""The functions that convert a Vega-Lite chart to a file, by the file name's suffix."""


def _with_png(part: Any) -> Any:
    """Return a chart with its WebP images as PNG: PDF has no WebP, nor have most SVG readers."""
    if isinstance(part, dict):
        return {key: _with_png(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_with_png(item) for item in part]
    return WEBP.sub(_as_png, part) if isinstance(part, str) else part


def _as_png(webp: re.Match[str]) -> str:
    png = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(webp[1]))) as picture:
        picture.save(png, "PNG")
    return "data:image/png;base64," + base64.b64encode(png.getvalue()).decode()


DIGITS = 6  # significant digits of a number; more only enlarge a page


def specification(chart: alt.TopLevelMixin) -> JsonObject:
    """Return the chart as a Vega-Lite specification, for which altair has no type."""
    return chart.to_dict(validate=False)


def stack_charts(charts: Sequence[JsonObject]) -> JsonObject:
    """Return specifications below one another, each with a legend of its own."""
    shared = ("$schema", "config", "datasets")
    return {
        **{key: charts[0][key] for key in shared if key in charts[0]},
        "datasets": {name: each["datasets"][name] for each in charts for name in each["datasets"]},
        "vconcat": [{key: each[key] for key in each if key not in shared} for each in charts],
        "resolve": {"scale": {"color": "independent"}},
    }


def layer_charts(*layers: alt.Chart | alt.LayerChart) -> alt.LayerChart:
    """Return charts on top of one another; they must have no facets, which altair's type allows."""
    return cast(alt.LayerChart, alt.layer(*layers))


REACH = 2.5  # intervals far wider than the gains are cut at the axis
MARGIN = 0.03  # a share of the axis, so that an interval that ends there does not look cut


def gain_extent(gains: Iterable[Sequence[float | None]]) -> tuple[float, float]:
    """Return the axis of a chart of gains with their bounds; zero and every dot are inside."""
    known = [each for each in gains if each[0] is not None]
    values = [each[0] for each in known if each[0] is not None]
    # A gain may have no interval, as with one block.
    ends = [0.0, *(end for each in known for end in each if end is not None)]
    reach = REACH * max([0.02, *map(abs, values)])
    low, high = max(-reach, min(ends)), min(reach, max(ends))
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def axis_of(extent: tuple[float, float]) -> alt.Scale:
    """Return the scale of an axis that ends exactly at `extent`, where intervals are cut.

    Layers without a domain of their own would round it up to the next tick, beyond the arrows.
    """
    return alt.Scale(domain=list(extent), clamp=True, nice=False)


def arrows_beyond_axis(
    known: alt.Chart, extent: tuple[float, float]
) -> tuple[alt.Chart, alt.Chart]:
    """Return arrowheads at the ends of an axis of gains, for intervals that extend beyond it.

    `known` has `gain_low` and `gain_high`; `extent` is the whole axis.
    """
    low, high = extent
    away = 10.0**-DIGITS * max(abs(low), abs(high))
    return arrowheads(known, f"{low - away}", f"{high + away}")


def arrowheads(known: alt.Chart, low: str, high: str) -> tuple[alt.Chart, alt.Chart]:
    """Return arrowheads for an axis whose ends are Vega expressions."""
    left, right = (
        known.transform_filter(f"isValid({bound}) && {bound} {beyond}")
        .mark_point(shape=shape, filled=True, size=90, opacity=1)
        .encode(x=alt.value(end))
        for bound, beyond, shape, end in (
            ("datum.gain_low", f"< {low}", "triangle-left", 0),
            ("datum.gain_high", f"> {high}", "triangle-right", "width"),
        )
    )
    return left, right


def largest(values: pl.Series) -> float:
    """Return the largest number of a column; 0 if it is empty."""
    return max((float(value) for value in values.drop_nulls()), default=0.0)


def inline(rows: pl.DataFrame, *columns: str) -> alt.InlineData:
    """Return the named columns, or all, as CSV: half the size of objects."""
    chosen = rows.select(columns) if columns else rows
    numbers = [name for name, kind in chosen.schema.items() if kind.is_float()]
    parse = {
        name: "number" if kind.is_numeric() else "string" for name, kind in chosen.schema.items()
    }
    text = chosen.with_columns(pl.col(numbers).round_sig_figs(DIGITS)).write_csv()
    return alt.InlineData(values=text, format=alt.CsvDataFormat(type="csv", parse=parse))
