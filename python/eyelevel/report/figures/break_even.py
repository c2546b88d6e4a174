"""The break-even map: where over loss, round-trip time and rate a stack stops winning."""

import numpy as np
import polars as pl

from eyelevel.analysis.claims import CLAIMS, is_claimed, verdict_of
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.networks.presets import UNSHAPED
from eyelevel.report.charts.break_even import GAIN, UNDECIDED, break_even_map

AXES = ("rtt_ms", "rate_mbit_s", "loss_percent")
STEPS = 2000
"""The number of points between the outermost networks at which an interval's ends are sought."""


def break_even_rows(contents: StudyResults) -> pl.DataFrame:
    """Return one row per network and comparison: the gain, its 95 % interval and its finding.

    Empty if the networks do not differ in two of AXES.
    """
    rows = []
    for compared in contents.gains:
        network, gain = contents.network(compared.network), compared.gain
        if compared.metric != contents.drawn_metric:
            continue
        if gain.value is None or gain.low is None or gain.high is None:
            continue
        if compared.network == UNSHAPED or not network.is_plain:
            continue
        finding = verdict_of(contents, compared) if is_claimed(contents, compared) else UNDECIDED
        place = (network.rtt_ms_min, network.down_mbit_s, 100 * network.loss_two_way)
        bounds = (gain.value, gain.low, gain.high)
        rows.append((compared.network, str(compared.comparison), *place, *bounds, finding))
    names = ["network", "comparison", *AXES, *GAIN, "finding"]
    table = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    return table if table.height and len(_axes(table)) == 2 else table.clear()


def break_even_points(contents: StudyResults) -> pl.DataFrame:
    """Return where each comparison's gain crosses zero along the first axis, the other two fixed.

    Between networks the gain and the bounds of its interval are interpolated linearly. The interval
    of a crossing is where zero lies between the bounds; it ends at the outermost network if they
    never exclude zero there. `between_claims`: the networks on both sides of it have verdicts, one
    faster and one slower; any other crossing may be noise.
    """
    rows = break_even_rows(contents)
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


def break_even_chart(rows: pl.DataFrame, contents: StudyResults) -> JsonObject:
    """Return the map of rows and crossings; see `eyelevel.report.charts.break_even`."""
    across, up = _axes(rows)
    return break_even_map(rows, break_even_points(contents), (across, up))


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
