"""Charts of gains and of all counted loads, by network, which the page's script draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl

from eyelevel.analysis.claims import is_claimed
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.chart import gain_extent
from eyelevel.report.charts.distribution import (
    ALL_SITES,
    NETWORKS_MAX,
    SITES_MAX,
    cumulative,
    distribution_chart,
    gain_chart,
)
from eyelevel.report.html import Markup, render
from eyelevel.report.page_data import PageData

ALL_NETWORKS = "all networks"

Choice = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ChartsSection:
    """The fields of the template; a choice is a list of values with their texts."""

    networks: Sequence[str]
    stacks: Sequence[str]
    metrics: Choice
    primary: str
    network_choices: Choice
    site_choices: Choice
    curves_left_out: str
    networks_max: int = NETWORKS_MAX
    """The most networks that are shown at once."""


def charts_section(results: StudyResults, data: PageData) -> Markup:
    """Return two charts per network, with the controls that select them."""
    data.specifications |= _specifications(results)
    few = len(results.networks) <= NETWORKS_MAX
    return render(
        "charts",
        ChartsSection(
            networks=results.networks,
            stacks=results.stacks,
            metrics=[(name, title_of(name)) for name in results.metrics],
            primary=results.primary_metric,
            network_choices=_choices([ALL_NETWORKS] * few, results.networks),
            site_choices=_choices([ALL_SITES], results.sites),
            curves_left_out=_curves_left_out(results),
        ),
    )


def _choices(*names: Sequence[str]) -> Choice:
    return [(name, name) for name in chain(*names)]


def _curves_left_out(results: StudyResults) -> str:
    """Return a sentence on curves that exist for the primary metric only; empty if all exist."""
    large = [
        what
        for what, is_large in (
            ("single sites", len(results.sites) > SITES_MAX),
            ("all sites together", len(results.networks) > NETWORKS_MAX),
        )
        if is_large
    ]
    if not large:
        return ""
    text = f"{' and '.join(large)} have curves for the primary metric only. "
    return f"{text[0].upper()}{text[1:]}"


def _specifications(results: StudyResults) -> dict[str, JsonObject]:
    metric = results.primary_metric
    gains = pl.DataFrame(
        [
            {
                "network": gain.network,
                "metric": gain.metric,
                "stack": gain.stack,
                "comparison": str(gain.comparison),
                **gain.gain.as_columns("gain"),
                "claimed": is_claimed(results, gain),
            }
            for gain in results.gains
        ],
        schema={
            "network": pl.String,
            "metric": pl.String,
            "stack": pl.String,
            "comparison": pl.String,
            "gain": pl.Float64,
            "gain_low": pl.Float64,
            "gain_high": pl.Float64,
            "claimed": pl.Boolean,
        },
    )
    curves = cumulative(results.blocks.kept, results.metrics)
    extents = _extents(gains)
    specifications = {}
    for index, network in enumerate(results.networks):
        own_gains = gains.filter(pl.col("network") == network)
        own_curves = curves.filter(pl.col("network") == network)
        specifications[f"gain-{index}"] = gain_chart(
            own_gains,
            results.stacks,
            [str(comparison) for comparison in results.comparisons],
            metric,
            extents,
        )
        specifications[f"curve-{index}"] = distribution_chart(own_curves, results.stacks, metric)
    return specifications


def _extents(gains: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Return the axis of each metric's charts, the same on all networks."""
    return {
        str(metric): gain_extent(rows.select("gain", "gain_low", "gain_high").iter_rows())
        for (metric,), rows in gains.partition_by(
            "metric", as_dict=True, maintain_order=True
        ).items()
    }
