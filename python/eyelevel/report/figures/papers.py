"""Rows of the papers' figures: where metrics disagree, one origin or many, progress, break-even."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from eyelevel.analysis.claims import CLAIMS, is_claimed, verdict_of
from eyelevel.analysis.gains.cells import Cell, compare_cells
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate, Floats
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.networks.presets import UNSHAPED
from eyelevel.plan.stacks import Stack
from eyelevel.report.charts.distribution import ALL_SITES
from eyelevel.report.charts.paper import GAIN, UNDECIDED, break_even_map
from eyelevel.report.figures.filmstrips import strips_of, typical_loads

SHOWN_MAX = 3  # for the widest disagreements: a strip of ten frames has some 60 kB


def disagreements(results: StudyResults) -> pl.DataFrame:
    """Return the sites, by network and comparison, with intervals on both sides of zero.

    The intervals are those of single sites, 95 % and not corrected for their number: a list of
    where to look. `spread` is the distance of the outermost ratios of means; the widest come first.
    """
    by_load: dict[tuple[str, str, str, str], list[tuple[float, str]]] = {}
    for cell in results.cells:
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


def disagreement_strips(results: StudyResults) -> pl.DataFrame:
    """Return the frames of the widest disagreements: one row per stack and moment."""
    rows = []
    for row in disagreements(results).head(SHOWN_MAX).iter_rows(named=True):
        strips = strips_of(results, row["site"], row["network"])
        finding = (
            f"{row['site']} on {row['network']}: {row['stack']} is lower than "
            f"{row['reference']} by "
            f"{row['lower_by']}; higher by {row['higher_by']}"
        )
        for stack in (row["reference"], row["stack"]):
            rows += [(finding, stack, seconds, url) for seconds, url in strips.get(stack, ())]
    schema = {"finding": pl.String, "stack": pl.String, "seconds": pl.Float64, "url": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


TUNED = ("tcp+", "tcp+bbr")
METRICS = ("first_visual_change_ms", "page_load_time_ms")
"""The paper's metrics, the earliest and the latest; the plan's primary one is added to them."""

_SCHEMA = {
    "network": pl.String,
    "site": pl.String,
    "stack": pl.String,
    "reference": pl.String,
    "metric": pl.String,
    "pairs": pl.Int64,
    "difference_ms": pl.Float64,
    "less_one_rtt_ms": pl.Float64,
    "less_one_rtt_ms_low": pl.Float64,
    "less_one_rtt_ms_high": pl.Float64,
    "less_one_rtt_ms_p": pl.Float64,
    "less_one_rtt_ms_undetermined_because": pl.String,
    "less_one_rtt_rtts": pl.Float64,
}


def single_origin(results: StudyResults) -> pl.DataFrame:
    """Return QUIC - (TCP+ - 1 RTT), one row per single-origin site, network, QUIC stack and metric.

    The differences are of loads in pairs by block (Hodges and Lehmann, with their 95 % interval;
    the paper gives differences of means): a page of one origin waits for one handshake, which is
    one round trip shorter over QUIC. Null if undetermined, with the reason.
    """
    kept = results.blocks.kept
    origins = kept.group_by("site").agg(pl.col("origins").median())
    sites = origins.filter(pl.col("origins") == 1)["site"].to_list()
    wanted = {results.primary_metric, results.drawn_metric, *METRICS}
    metrics = [name for name in results.metrics if name in wanted]
    rows = []
    stacks = results.plan.stacks
    for stack in stacks:
        references = [comparison.reference for comparison in results.comparisons]
        against = partner_of(stack, stacks, references)
        if against is None:
            continue
        pair = [against, stack.name]
        loads = kept.filter(pl.col("site").is_in(sites), pl.col("stack").is_in(pair))
        for cell in compare_cells(loads, metrics, [Comparison(stack.name, against)]):
            if cell.pairs:
                rows.append(_row(cell, results.network(cell.network).rtt_ms_min))
    return pl.DataFrame(rows, schema=_SCHEMA)


def partner_of(stack: Stack, stacks: Sequence[Stack], references: Sequence[str]) -> str | None:
    """Return the TCP stack that a QUIC stack is compared with, or None; None for a TCP stack.

    It is the tuned one with the same congestion controller, as in the paper; else another tuned
    one, `tcp+` first; else a reference of the plan. It must have TLS 1.3, whose handshakes take one
    round trip more than QUIC's.
    """
    if not stack.over_quic:
        return None
    secure = [other for other in stacks if not other.over_quic and other.tls_version == "1.3"]
    tuned = sorted(
        (other for other in secure if other.stack_preset in TUNED),
        key=lambda other: (other.controller != stack.controller, TUNED.index(other.stack_preset)),
    )
    chosen = tuned or [other for other in secure if other.name in references]
    return chosen[0].name if chosen else None


def _row(cell: Cell, rtt_ms: float) -> JsonObject:
    difference = cell.difference
    value, low, high = (
        None if bound is None else bound + rtt_ms
        for bound in (difference.value, difference.low, difference.high)
    )
    less = Estimate(value, low, high, reason=difference.reason)
    return {
        "network": cell.network,
        "site": cell.site,
        "stack": cell.stack,
        "reference": cell.reference,
        "metric": title_of(cell.metric),
        "pairs": cell.pairs,
        "difference_ms": difference.value,
        **less.as_columns("less_one_rtt_ms"),
        "less_one_rtt_rtts": None if value is None or rtt_ms == 0 else value / rtt_ms,
    }


PANELS_MAX = 24  # per figure, in the plan's order: eight rows of three
POINTS = 80  # per mean curve: the resolution of a panel of 200 pixels
LOADS_SHARE = 0.95  # the share of loads that are visually complete where the axis ends

_ROWS = {
    "network": pl.String, "site": pl.String, "stack": pl.String,
    "seconds": pl.Float64, "share": pl.Float64,
}  # fmt: skip


def mean_progress(results: StudyResults, points: int = POINTS) -> pl.DataFrame:
    """Return the mean progress over loads at even times.

    The columns are `network`, `site`, `stack`, `seconds`, `share`. Site ALL_SITES is the mean over
    the sites' means. Single sites follow if all panels are at most PANELS_MAX. A block counts if
    every stack's load has frames; a block with a timeout does not count. The area above a curve is
    its loads' mean Speed Index, except for what comes after the axis ends.
    """
    loads = _complete_blocks(results)
    single = (len(results.sites) + 1) * len(results.networks) <= PANELS_MAX
    parts = []
    for network in results.networks[:PANELS_MAX]:
        own = loads.filter(network=network)
        sites = [site for site in results.sites if site in set(own["site"])]
        panels = sites if len(sites) < 2 else [ALL_SITES, *(sites if single else ())]
        for site in panels:
            of_panel = own if site == ALL_SITES else own.filter(site=site)
            parts += list(_panel(of_panel, network, site, results.stacks, points))
    return pl.concat([pl.DataFrame(schema=_ROWS), *parts])


def typical_progress(results: StudyResults) -> pl.DataFrame:
    """Return the steps of the typical loads' progress, up to PANELS_MAX pairs of site and network.

    The columns are `network`, `site`, `stack`, `hash`, `seconds`, `share`; pairs are in the plan's
    order.
    """
    typical, rows, panels = typical_loads(results), [], 0
    for site in results.sites:
        for network in results.networks:
            loads = {
                stack: row
                for stack, row in typical.get((site, network), {}).items()
                if row["progress_at_ms"]
            }
            if not loads or panels == PANELS_MAX:
                continue
            panels += 1
            end_ms = max(row["progress_at_ms"][-1] for row in loads.values())
            for stack, row in loads.items():
                steps = zip(row["progress_at_ms"], row["progress_share"], strict=True)
                key = (network, site, stack, row["hash"])
                rows += [(*key, at_ms / 1e3, share) for at_ms, share in steps]
                if row["progress_at_ms"][-1] < end_ms:  # a complete picture stays complete
                    rows.append((*key, end_ms / 1e3, 1.0))
    names = ["network", "site", "stack", "hash", "seconds", "share"]
    schema = {name: pl.String if index < 4 else pl.Float64 for index, name in enumerate(names)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _complete_blocks(results: StudyResults) -> pl.DataFrame:
    kept = results.blocks.kept.select(
        "network", "site", "stack", "block", at_ms="progress_at_ms", share="progress_share"
    )
    there = pl.col("at_ms").is_not_null().all().over("block")
    return kept.filter(there)


def _panel(
    loads: pl.DataFrame, network: str, site: str, stacks: list[str], points: int
) -> Iterator[pl.DataFrame]:
    ends = loads.with_columns(end_ms=pl.col("at_ms").list.last())
    late = ends.group_by("stack").agg(pl.col("end_ms").quantile(LOADS_SHARE, "higher"))
    grid_ms = np.linspace(0, float(np.max(late["end_ms"].to_numpy())), points + 1)
    for stack in stacks:
        own = loads.filter(stack=stack)
        if own.height:
            yield pl.DataFrame(
                {"network": network, "site": site, "stack": stack,
                 "seconds": grid_ms / 1e3, "share": _mean_curve(own, grid_ms)},
                schema=_ROWS,
            )  # fmt: skip


def _mean_curve(loads: pl.DataFrame, grid_ms: Floats) -> Floats:
    """Return the mean share at each time, over sites of the means over a site's loads."""
    weighted = loads.with_columns(
        weight=1 / pl.len().over("site") / pl.col("site").n_unique(),
        rise=pl.col("share").list.diff().list.eval(pl.element().fill_null(0.0)),
    )
    steps = weighted.select("at_ms", "rise", "weight").explode("at_ms", "rise").cast(pl.Float64)
    # A rise counts from the first grid time that is not before it.
    place = np.searchsorted(grid_ms, steps["at_ms"].to_numpy(), "left")
    rises = (steps["rise"] * steps["weight"]).to_numpy()
    summed: Floats = np.bincount(place, rises, minlength=len(grid_ms) + 1).astype(float)
    return np.cumsum(summed)[: len(grid_ms)]


AXES = ("rtt_ms", "rate_mbit_s", "loss_percent")
STEPS = 2000
"""The number of points between the outermost networks at which an interval's ends are sought."""


def break_even_rows(results: StudyResults) -> pl.DataFrame:
    """Return one row per network and comparison: the gain, its 95 % interval and its finding.

    Empty if the networks do not differ in two of AXES.
    """
    rows = []
    for compared in results.gains:
        network, gain = results.network(compared.network), compared.gain
        if compared.metric != results.drawn_metric:
            continue
        if gain.value is None or gain.low is None or gain.high is None:
            continue
        if compared.network == UNSHAPED or not network.is_plain:
            continue
        finding = verdict_of(results, compared) if is_claimed(results, compared) else UNDECIDED
        place = (network.rtt_ms_min, network.down_mbit_s, 100 * network.loss_two_way)
        bounds = (gain.value, gain.low, gain.high)
        rows.append((compared.network, str(compared.comparison), *place, *bounds, finding))
    names = ["network", "comparison", *AXES, *GAIN, "finding"]
    table = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    return table if table.height and len(_axes(table)) == 2 else table.clear()


def break_even_points(results: StudyResults) -> pl.DataFrame:
    """Return where each comparison's gain crosses zero along the first axis, the other two fixed.

    Between networks the gain and the bounds of its interval are interpolated linearly. The interval
    of a crossing is where zero lies between the bounds; it ends at the outermost network if they
    never exclude zero there. `between_claims`: the networks on both sides of it have verdicts, one
    faster and one slower; any other crossing may be noise.
    """
    rows = break_even_rows(results)
    if not rows.height:
        return rows
    across = _axes(rows)[0]
    others = [name for name in AXES if name != across]
    points = []
    for key, line in rows.sort(across).partition_by("comparison", *others, as_dict=True).items():
        if line[across].n_unique() < 2 or line[across].n_unique() < line.height:
            continue
        for crossing in _crossings(*(line[name].to_numpy() for name in (across, *GAIN))):
            claimed = _between_claims(line, across, crossing[0])
            points.append((*key, across, *crossing, claimed))
    names = ["comparison", *others, "along", "crossing", "crossing_low", "crossing_high"]
    names.append("between_claims")
    return pl.DataFrame(points, schema=names, orient="row", infer_schema_length=None)


def break_even_chart(rows: pl.DataFrame, results: StudyResults) -> JsonObject:
    """Return the map of rows and crossings; see `eyelevel.report.charts.paper`."""
    across, up = _axes(rows)
    return break_even_map(rows, break_even_points(results), (across, up))


def _axes(rows: pl.DataFrame) -> tuple[str, ...]:
    """Return the two of AXES in which the networks differ most often."""
    levels = {name: rows[name].n_unique() for name in AXES}
    ordered = sorted((name for name in AXES if levels[name] > 1), key=lambda name: -levels[name])
    return tuple(ordered[:2])


def _between_claims(line: pl.DataFrame, across: str, crossing: float) -> bool:
    before = line.filter(pl.col(across) < crossing)["finding"].to_list()
    after = line.filter(pl.col(across) >= crossing)["finding"].to_list()
    first, second = CLAIMS
    return (first in before and second in after) or (second in before and first in after)


def _crossings(
    x: np.ndarray, gain: np.ndarray, low: np.ndarray, high: np.ndarray
) -> list[tuple[float, float, float]]:
    grid = np.linspace(x[0], x[-1], STEPS + 1)
    undecided = (np.interp(grid, x, low) <= 0) & (np.interp(grid, x, high) >= 0)
    crossings = []
    for index in np.flatnonzero(np.sign(gain[:-1]) * np.sign(gain[1:]) < 0):
        share = gain[index] / (gain[index] - gain[index + 1])
        crossing = float(x[index] + share * (x[index + 1] - x[index]))
        here = int(np.abs(grid - crossing).argmin())
        before, after = np.flatnonzero(~undecided[:here]), np.flatnonzero(~undecided[here:])
        start = grid[before[-1] + 1] if before.size else grid[0]
        end = grid[here + after[0] - 1] if after.size else grid[-1]
        crossings.append((crossing, min(crossing, float(start)), max(crossing, float(end))))
    return crossings
