"""The papers' figures from a run: one table of them, each with what it is drawn from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from eyelevel.figures.paper import (
    against_attribute,
    gain_cdf,
    heat_map,
    reproducibility,
    significance_shares,
)
from eyelevel.report.contents import Contents
from eyelevel.report.metrics_shown import title_of


@dataclass(frozen=True)
class PaperFigure:
    """A figure: its rows, and its chart of them (rows may be empty: then there is no chart)."""

    name: str
    source: str
    rows: Callable[[Contents], pl.DataFrame]
    chart: Callable[[pl.DataFrame, Contents], dict[str, Any]]


def cell_rows(contents: Contents) -> pl.DataFrame:
    """One row a site, network, stack and metric with a gain, with the site's attributes."""
    networks = {each["name"]: each for each in contents.plan["networks"]}
    rows = [
        {
            "network": cell.network,
            "site": cell.site,
            "arm": cell.arm,
            "metric": title_of(cell.metric),
            "primary": cell.metric == contents.plan["primary_metric"],
            "gain": cell.gain.value,
            "anova": cell.anova.verdict,
            "difference_ms": cell.difference.value,
            "rate_mbit_s": networks[cell.network]["rate_down_bit_s"] / 1e6,
            "rtt_ms": float(networks[cell.network]["rtt_ms_min"]),
        }
        for cell in contents.cells
        if cell.gain.value is not None
    ]
    if not rows:
        return pl.DataFrame()
    sites = contents.blocks.kept.group_by("site").agg(
        pl.col("origins", "objects", "encoded_bytes").median()
    )
    found = pl.DataFrame(rows, infer_schema_length=None)
    rtts = pl.col("difference_ms").cast(pl.Float64) / pl.col("rtt_ms")
    return found.with_columns(difference_rtts=rtts).join(
        sites, on="site", how="left", maintain_order="left"
    )


def _primary(contents: Contents) -> pl.DataFrame:
    rows = cell_rows(contents)
    return rows.filter("primary") if rows.height else rows


def _grid(contents: Contents) -> pl.DataFrame:
    """The primary metric's cells where the networks span rates and round-trip times."""
    rows = _primary(contents)
    if not rows.height or rows["rate_mbit_s"].n_unique() < 2 or rows["rtt_ms"].n_unique() < 2:
        return rows.clear()
    return rows


def _extremes(contents: Contents) -> pl.DataFrame:
    """Das 2014, table 5.1: by stack the ten sites helped and hurt most, with their attributes."""
    rows = _primary(contents)
    if not rows.height:
        return rows
    attributes = pl.col("origins", "objects", "encoded_bytes").first()
    sites = rows.group_by("arm", "site").agg(pl.col("gain").mean(), attributes).sort("arm", "gain")
    rank = pl.int_range(pl.len()).over("arm")
    return sites.filter((rank < 10) | (rank >= pl.len().over("arm") - 10))


def _single_origin(contents: Contents) -> pl.DataFrame:
    """Wolsing et al. 2019, table 3: single-origin sites' differences in ms and round trips.

    Against the reference: with `tcp+` as reference the paper's QUIC - (TCP+ - 1 RTT) is one round
    trip more than the difference.
    """
    rows = _primary(contents)
    if not rows.height:
        return rows
    found = rows.filter((pl.col("origins") == 1) & pl.col("difference_ms").is_not_null())
    return (
        found.group_by("network", "arm", maintain_order=True)
        .agg(
            sites=pl.len(),
            difference_ms_median=pl.col("difference_ms").median(),
            difference_rtts_median=pl.col("difference_rtts").median(),
        )
        .with_columns(less_one_rtt=pl.col("difference_rtts_median") + 1)
    )


def _loads(contents: Contents) -> pl.DataFrame:
    metric = contents.plan["primary_metric"]
    kept = contents.blocks.kept.filter(pl.col(metric).is_not_null())
    return kept.select("network", "site", "arm", "repetition", value=pl.col(metric))


def _attribute(name: str, title: str) -> Callable[[pl.DataFrame, Contents], dict[str, Any]]:
    return lambda rows, _: against_attribute(rows, name, title)


FIGURES: tuple[PaperFigure, ...] = (
    PaperFigure("gain-cdf", "Wolsing et al. 2019, figure 3", cell_rows,
                lambda rows, contents: gain_cdf(rows, contents.arms)),
    PaperFigure("significance", "Wolsing et al. 2019, section 4", cell_rows,
                lambda rows, contents: significance_shares(rows, contents.arms)),
    PaperFigure("origins", "Wolsing et al. 2019, slide 14", _primary,
                _attribute("origins", "number of origins")),
    PaperFigure("bytes", "Wolsing et al. 2019, slide 14", _primary,
                _attribute("encoded_bytes", "bytes on the wire")),
    PaperFigure("heat-map", "Das 2014, figure 5-2", _grid,
                lambda rows, contents: heat_map(
                    rows, title_of(contents.plan["primary_metric"]))),
    PaperFigure("reproducibility", "Das 2014, figure 4-2", _loads,
                lambda rows, _: reproducibility(rows)),
)  # fmt: skip


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, as CSV."""

    name: str
    source: str
    rows: Callable[[Contents], pl.DataFrame]


TABLES: tuple[PaperTable, ...] = (
    PaperTable("single-origin", "Wolsing et al. 2019, table 3", _single_origin),
    PaperTable("extremes", "Das 2014, table 5.1", _extremes),
)
