"""The papers' figures from a run: one table of them, each with its rows and its chart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.charts.load_traces import waterfall
from eyelevel.report.charts.paper import (
    against_attribute,
    gain_cdf,
    heat_map,
    link_curves,
    mean_gains,
    progress_chart,
    reproducibility,
    significance_shares,
    single_object,
    site_curves,
    strips_chart,
    trace_rates,
)
from eyelevel.report.figures.cellular import (
    cellular_quantiles,
    controllers,
    rates_over_time,
    varying_networks,
)
from eyelevel.report.figures.papers import (
    break_even_chart,
    break_even_points,
    break_even_rows,
    disagreement_strips,
    disagreements,
    mean_progress,
    single_origin,
    typical_progress,
)
from eyelevel.report.figures.site_gains import (
    attribute_lines,
    extremes,
    improvements,
    nine_networks,
    single_objects,
)
from eyelevel.report.figures.waterfall import (
    downlink_figure,
    downlink_levels,
    downlink_medians,
    waterfall_rows,
)


@dataclass(frozen=True)
class PaperFigure:
    """A figure: the function for its rows, and the one for its chart, which needs rows."""

    name: str
    title: str
    source: str
    rows: Callable[[StudyResults], pl.DataFrame]
    chart: Callable[[pl.DataFrame, StudyResults], JsonObject]


def cell_rows(results: StudyResults) -> pl.DataFrame:
    """Return one row per site, network, comparison and metric, with the site's attributes.

    `ratio_of_means`, the papers' gain, and `difference_ms` are null if they are undetermined, as
    with a timeout: a share of sites that leaves these out would favour the stack that timed out.
    """
    return _rows_of([cell for cell in results.cells if cell.pairs], results)


def _rows_of(cells: Sequence[Cell], results: StudyResults) -> pl.DataFrame:
    if not cells:
        return pl.DataFrame()
    names = {comparison: str(comparison) for comparison in results.comparisons}
    networks = {network.name: network for network in results.plan.networks}
    place = {name: position for position, name in enumerate(networks)}  # panels in the plan's order
    cells = sorted(cells, key=lambda cell: place[cell.network])
    of_cells = [networks[cell.network] for cell in cells]
    # Column by column: a large study has half a million cells.
    table = pl.DataFrame(
        {
            "network": [cell.network for cell in cells],
            "site": [cell.site for cell in cells],
            "stack": [cell.stack for cell in cells],
            "reference": [cell.reference for cell in cells],
            "comparison": [names[cell.comparison] for cell in cells],
            "metric": [title_of(cell.metric) for cell in cells],
            "primary": [cell.metric == results.primary_metric for cell in cells],
            "ratio_of_means": [cell.ratio_of_means.value for cell in cells],
            "anova": [cell.anova.verdict for cell in cells],
            "difference_ms": [cell.difference.value for cell in cells],
            "rate_mbit_s": [network.down_mbit_s for network in of_cells],
            "rtt_ms": [network.rtt_ms_min for network in of_cells],
        },
        strict=False,
    )
    sites = results.blocks.kept.group_by("site").agg(
        pl.col("origins", "objects", "encoded_bytes").median()
    )
    # Without delay, differences cannot be expressed in round trips.
    rtts = pl.when(pl.col("rtt_ms") > 0).then(
        pl.col("difference_ms").cast(pl.Float64) / pl.col("rtt_ms")
    )
    return table.with_columns(difference_rtts=rtts).join(
        sites, on="site", how="left", maintain_order="left"
    )


def _list_drawn_rows(results: StudyResults) -> pl.DataFrame:
    drawn = results.drawn_metric
    cells = [cell for cell in results.cells if cell.pairs and cell.metric == drawn]
    return _rows_of(cells, results)


def _differences(results: StudyResults) -> pl.DataFrame:
    """Return mean differences over sites in ms ("-131.3 ms SI", Wolsing et al. 2019, section 4)."""
    rows = [
        {
            "network": gain.network,
            "metric": title_of(gain.metric),
            "comparison": str(gain.comparison),
            **gain.difference.as_columns("difference_ms"),
            "difference_rtts": _in_round_trips(gain.difference.value, results, gain.network),
            "timeouts": (late.count + late.count_reference) if (late := gain.timeouts) else 0,
        }
        for gain in results.gains
        if gain.metric.endswith("_ms")
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _in_round_trips(value: float | None, results: StudyResults, network: str) -> float | None:
    rtt_ms = results.network(network).rtt_ms_min
    return None if value is None or rtt_ms == 0 else value / rtt_ms


def _significance(results: StudyResults) -> pl.DataFrame:
    """Count the sites whose means are lower, higher or neither by the papers' test, with shares."""
    cells = cell_rows(results)
    if not cells.height:
        return cells
    order = ["network", "metric", "comparison"]
    verdicts = ("lower", "higher", "undetermined")
    counts = {f"sites_{name}": (pl.col("anova") == name).sum() for name in verdicts}
    table = cells.group_by(order, maintain_order=True).agg(sites=pl.len(), **counts)
    shares = {f"share_{name}": pl.col(f"sites_{name}") / pl.col("sites") for name in verdicts}
    return table.with_columns(**shares)


def _loads_table(results: StudyResults) -> pl.DataFrame:
    metric = results.drawn_metric
    kept = results.blocks.kept.filter(pl.col(metric).is_not_null())
    return kept.select("network", "site", "stack", "repetition", value=pl.col(metric))


def _gains(results: StudyResults) -> pl.DataFrame:
    measured = {cell.metric for cell in results.cells if cell.pairs}
    rows = [
        (e.network, title_of(e.metric), str(e.comparison), mean.value, mean.low, mean.high)
        for e in results.gains
        for mean in (e.ratio_of_means,)
        if e.metric in measured
    ]
    bounds = ("ratio_of_means", "ratio_of_means_low", "ratio_of_means_high")
    names = ("network", "metric", "comparison", *bounds)
    schema = {name: pl.String if index < 3 else pl.Float64 for index, name in enumerate(names)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _comparison_names(results: StudyResults) -> list[str]:
    return [str(comparison) for comparison in results.comparisons]


def _attribute(name: str, title: str) -> Callable[[pl.DataFrame, StudyResults], JsonObject]:
    return lambda rows, results: against_attribute(rows, _comparison_names(results), name, title)


def _grid_curves(rows: pl.DataFrame, results: StudyResults) -> JsonObject:
    return site_curves(rows, results.stacks, title_of(results.drawn_metric), 3)


def _link_curves(rows: pl.DataFrame, results: StudyResults) -> JsonObject:
    return link_curves(rows, results.stacks, title_of(results.drawn_metric))


FIGURES: tuple[PaperFigure, ...] = (
    PaperFigure("gain-cdf", "Ratio of means by network and metric",
                "Wolsing et al. 2019, figure 3", cell_rows,
                lambda rows, results: gain_cdf(rows, _comparison_names(results))),
    PaperFigure("significance", "Sites by the papers' test: mean lower, higher, neither",
                "Wolsing et al. 2019, section 4", cell_rows,
                lambda rows, results: significance_shares(rows, _comparison_names(results))),
    PaperFigure("mean-gains", "Ratios of means with their intervals",
                "Wolsing et al. 2019, section 4", _gains,
                lambda rows, results: mean_gains(rows, _comparison_names(results))),
    PaperFigure("origins", "Difference against the number of origins",
                "Wolsing et al. 2019, slide 14", _list_drawn_rows,
                _attribute("origins", "number of origins")),
    PaperFigure("objects", "Difference against the number of objects",
                "Wolsing et al. 2019, slide 14", _list_drawn_rows,
                _attribute("objects", "number of objects")),
    PaperFigure("bytes", "Difference against the bytes of a site",
                "Wolsing et al. 2019, slide 14", _list_drawn_rows,
                _attribute("encoded_bytes", "bytes on the wire")),
    PaperFigure("progress", "Visual progress over time, mean of all loads",
                "Wolsing et al. 2019, figure 4", mean_progress,
                lambda rows, results: progress_chart(rows, results.stacks, "linear")),
    PaperFigure("progress-typical", "Visual progress over time, typical loads",
                "Wolsing et al. 2019, figure 4", typical_progress,
                lambda rows, results: progress_chart(rows, results.stacks, "step-after")),
    PaperFigure("disagreement", "Loads whose metrics disagree",
                "Wolsing et al. 2019, figure 4", disagreement_strips,
                lambda rows, _: strips_chart(rows)),
    PaperFigure("grid-cdf", "Load times of all sites on nine networks",
                "Das 2014, figure 5-1", nine_networks, _grid_curves),
    PaperFigure("heat-map", "Improvement of median load times over rate and RTT",
                "Das 2014, figure 5-2", improvements,
                lambda rows, results: heat_map(
                    rows, title_of(results.drawn_metric), _comparison_names(results))),
    PaperFigure("cellular-cdf", "Load times over links whose rate varies",
                "Das 2014, figure 6-1", varying_networks, _link_curves),
    PaperFigure("trace-rate", "The rate of such a link over time",
                "Das 2014, figure 6-2", rates_over_time,
                lambda rows, _: trace_rates(rows)),
    PaperFigure("congestion-cdf", "Congestion controllers over such links",
                "Das 2014, figures 6-3 and 6-4", controllers, _link_curves),
    PaperFigure("reproducibility", "How far loads lie from the median of their kind",
                "Das 2014, figure 4-2", _loads_table,
                lambda rows, _: reproducibility(rows)),
    PaperFigure("waterfall", "Waterfalls of a typical pair of loads",
                "beyond the papers", waterfall_rows, lambda rows, _: waterfall(rows)),
    PaperFigure("downlink", "Bytes in flight against what the downlink holds, and silences",
                "beyond the papers", downlink_levels, downlink_figure),
    PaperFigure("break-even", "Break-even map over loss, RTT and rate",
                "beyond the papers", break_even_rows, break_even_chart),
    PaperFigure("single-object", "Load times of single objects by size",
                "Das 2014, figure 4-3; Wolsing et al. 2019, figure 2", single_objects,
                lambda rows, results: single_object(rows, results.stacks)),
)  # fmt: skip


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, as CSV."""

    name: str
    title: str
    source: str
    rows: Callable[[StudyResults], pl.DataFrame]


TABLES: tuple[PaperTable, ...] = (
    PaperTable(
        "mean-differences",
        "Mean differences over sites in ms and round trips",
        "Wolsing et al. 2019, section 4",
        _differences,
    ),
    PaperTable(
        "significance-shares",
        "Shares of sites by the papers' test",
        "Wolsing et al. 2019, section 4",
        _significance,
    ),
    PaperTable(
        "attributes",
        "How well attributes of sites predict their gains",
        "Das 2014, section 5.2",
        attribute_lines,
    ),
    PaperTable(
        "cellular-quantiles",
        "Medians and 95th percentiles over sites on links whose rate varies",
        "Das 2014, section 6.3",
        cellular_quantiles,
    ),
    PaperTable(
        "single-origin",
        "Single-origin sites: QUIC - (TCP+ - 1 RTT)",
        "Wolsing et al. 2019, table 3",
        single_origin,
    ),
    PaperTable(
        "disagreements",
        "Sites whose metrics disagree",
        "Wolsing et al. 2019, figure 4",
        disagreements,
    ),
    PaperTable(
        "extremes",
        "The sites with the ten lowest and ten highest gains",
        "Das 2014, table 5.1",
        extremes,
    ),
    PaperTable(
        "break-even-points",
        "Break-even points with their intervals",
        "beyond the papers",
        break_even_points,
    ),
    PaperTable(
        "downlink-medians",
        "Silences and use of the downlink",
        "beyond the papers",
        downlink_medians,
    ),
)

TRACES = ("downlink", "downlink-medians")
"""The figures that describe loads rather than causes of differences; not in the papers."""

SECTIONS = ("waterfall",)
"""The figures that have sections of their own on the page."""
