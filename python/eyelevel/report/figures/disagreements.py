"""Loads whose metrics disagree: lower by one and higher by another (Wolsing 2019, figure 4)."""

import polars as pl

from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.report.figures.filmstrips import strips_of

SHOWN_MAX = 3  # for the widest disagreements: a strip of ten frames has some 60 kB


def disagreements(contents: StudyResults) -> pl.DataFrame:
    """Return the sites, by network and comparison, with intervals on both sides of zero.

    The intervals are those of single sites, 95 % and not corrected for their number: a list of
    where to look. `spread` is the distance of the outermost ratios of means; the widest come first.
    """
    by_load: dict[tuple[str, str, str, str], list[tuple[float, str]]] = {}
    for cell in contents.cells:
        gain = cell.ratio_of_means
        if gain.value is not None and gain.excludes_zero:
            by_load.setdefault((cell.site, cell.network, cell.stack, cell.reference), []).append(
                (gain.value, title_of(cell.metric))
            )
    rows = []
    for key, gains in by_load.items():
        low, high = min(gains), max(gains)
        if low[0] < 0 < high[0]:
            lower, higher = (
                ", ".join(name for gain, name in gains if (gain < 0) == wanted)
                for wanted in (True, False)
            )
            rows.append((*key, lower, higher, low[0], high[0], high[0] - low[0]))
    names = ["site", "network", "stack", "reference", "lower_by", "higher_by",
             "ratio_of_means_min", "ratio_of_means_max", "spread"]  # fmt: skip
    schema = {name: pl.String if column < 6 else pl.Float64 for column, name in enumerate(names)}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("spread", descending=True)


def disagreement_strips(contents: StudyResults) -> pl.DataFrame:
    """Return the frames of the widest disagreements: one row per stack and moment."""
    rows = []
    for row in disagreements(contents).head(SHOWN_MAX).iter_rows(named=True):
        strips = strips_of(contents, row["site"], row["network"])
        finding = (
            f"{row['site']} on {row['network']}: {row['stack']} is lower than "
            f"{row['reference']} by "
            f"{row['lower_by']}; higher by {row['higher_by']}"
        )
        for stack in (row["reference"], row["stack"]):
            rows += [(finding, stack, seconds, url) for seconds, url in strips.get(stack, ())]
    schema = {"finding": pl.String, "stack": pl.String, "seconds": pl.Float64, "url": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")
