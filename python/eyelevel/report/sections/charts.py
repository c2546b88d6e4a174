"""Charts of gains and of all counted loads, by network, which the page's script draws."""

import polars as pl

from eyelevel.analysis.claims import is_claimed
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.figures.chart import gain_extent
from eyelevel.figures.distribution import (
    ALL_SITES,
    NETWORKS_MAX,
    SITES_MAX,
    cumulative,
    distribution_chart,
)
from eyelevel.figures.gain_chart import gain_chart
from eyelevel.json_types import JsonObject
from eyelevel.report.html import Markup, element, options, titled_section
from eyelevel.report.page_data import PageData

ALL_NETWORKS = "all networks"


def charts_section(contents: StudyResults, data: PageData) -> Markup:
    """Two charts a network, and what chooses among them."""
    data.specifications |= _specifications(contents)
    metrics = options(
        ((name, title_of(name)) for name in contents.metrics), contents.primary_metric
    )
    sites = options(((name, name) for name in (ALL_SITES, *contents.sites)), ALL_SITES)
    figures = []
    for index, network in enumerate(contents.networks):
        figures.append(
            element(
                "figure",
                element("figcaption", network),
                _chart(
                    f"gain-{index}",
                    (
                        f"Chart: gains with their intervals on {network}; the numbers are in "
                        "the table"
                    ),
                ),
                _chart(
                    f"curve-{index}", f"Chart: cumulative distributions of the loads on {network}"
                ),
                data_network=network,
                **({} if index < NETWORKS_MAX else {"hidden": ""}),
            )
        )
    few = len(contents.networks) <= NETWORKS_MAX
    all_networks = [(ALL_NETWORKS, ALL_NETWORKS)] if few else []
    networks = options(
        (*all_networks, *((name, name) for name in contents.networks)),
        ALL_NETWORKS if all_networks else contents.networks[0],
    )
    return titled_section(
        "charts",
        "Charts",
        element(
            "div",
            element("label", "metric ", element("select", metrics, id="metric")),
            element("label", "network ", element("select", networks, id="network")),
            element("label", "site ", element("select", sites, id="site")),
            element(
                "span",
                *map(_legend, range(len(contents.stacks)), contents.stacks),
                class_="legend",
                role="group",
                aria_label="stacks shown",
            ),
            class_="controls",
        ),
        element("div", *figures, class_="pair"),
        element(
            "p",
            "Top: the gain over all sites with its interval. A dot has its stack's colour if "
            "the verdict is faster or slower, and is grey otherwise; intervals far wider than "
            "the gains end in an arrow. Bottom: the share of counted loads that were "
            "at least that fast; a curve that ends below the top has timeouts. "
            f"{_curves_left_out(contents)}"
            "The choices made here also filter the rows of “Site by site”.",
            class_="note",
        ),
    )


def _curves_left_out(contents: StudyResults) -> str:
    """Return what has curves for the primary metric only, where something has."""
    large = [
        what
        for what, is_large in (
            ("single sites", len(contents.sites) > SITES_MAX),
            ("all sites together", len(contents.networks) > NETWORKS_MAX),
        )
        if is_large
    ]
    if not large:
        return ""
    said = f"{' and '.join(large)} have curves for the primary metric only. "
    return f"{said[0].upper()}{said[1:]}"


def _specifications(contents: StudyResults) -> dict[str, JsonObject]:
    metric = contents.primary_metric
    gains = pl.DataFrame(
        [
            {
                "network": gain.network,
                "metric": gain.metric,
                "stack": gain.stack,
                "comparison": str(gain.comparison),
                **gain.gain.as_columns("gain"),
                "claimed": is_claimed(contents, gain),
            }
            for gain in contents.gains
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
    curves = cumulative(contents.blocks.kept, contents.metrics)
    extents = _extents(gains)
    specifications = {}
    for index, network in enumerate(contents.networks):
        own_gains = gains.filter(pl.col("network") == network)
        own_curves = curves.filter(pl.col("network") == network)
        specifications[f"gain-{index}"] = gain_chart(
            own_gains,
            contents.stacks,
            [str(asked) for asked in contents.comparisons],
            metric,
            extents,
        )
        specifications[f"curve-{index}"] = distribution_chart(own_curves, contents.stacks, metric)
    return specifications


def _extents(gains: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Return the axis of each metric's charts, the same on all networks."""
    return {
        str(metric): gain_extent(rows.select("gain", "gain_low", "gain_high").iter_rows())
        for (metric,), rows in gains.partition_by(
            "metric", as_dict=True, maintain_order=True
        ).items()
    }


def _chart(identity: str, label: str) -> Markup:
    return element("div", id=identity, class_="chart", role="img", aria_label=label)


def _legend(index: int, stack: str) -> Markup:
    swatch = element("span", class_=f"swatch stack-{index % 8}", aria_hidden="true")
    return element(
        "button", swatch, stack, class_="key", type="button", data_stack=stack, aria_pressed="true"
    )
