"""Make weighted networks from the Chrome UX Report (CrUX), which has round trips only.

Since February 2025 CrUX has no effective connection types; it has the `round_trip_time` of loads,
as a histogram and its 75th percentile (developer.chrome.com/blog/crux-2025-02). Supported are a
response of its API (JSON), and a table of the histogram's bins from BigQuery: `start`, `end`,
`density`, one row per bin. Users are divided into classes at CrUX's own boundaries, each with the
median round trip of its loads. The rate is given, or by `rate_mbit_s_of`.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from eyelevel.base.errors import NetworkError
from eyelevel.base.from_outside.cell_numbers import NumberStyle, style_of
from eyelevel.base.from_outside.csv_rows import Table, csv_rows, read_table, refuse_long_rows
from eyelevel.base.from_outside.headings import DELAY, PLAIN, SHARE, Quantity, read_heading
from eyelevel.base.from_outside.json_rows import is_json, is_row, json_records, table_of
from eyelevel.base.from_outside.limits import TABLE
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.networks.from_csv import QUEUE_MS, UP_SHARE, WeightedNetwork
from eyelevel.plan.networks.network import Network

BORDERS_MS = (75.0, 275.0)
"""Boundaries between low, medium and high round trips, ms, as in CrUX's API."""

RATES_MBIT_S = ((24.0, 25.0), (74.0, 10.5), (175.0, 1.6), (450.0, 0.4), (1800.0, 0.075))
"""Round trips, ms, with typical downlink rates, Mbit/s: the first two are `dsl` and `lte`
(Wolsing et al. 2019, table 2), the others Chromium's typical values of its connection types 4g,
3g and 2g (net/nqe/network_quality_estimator_params.cc).
"""

OPEN_END = 1.5
"""Median of a last bin without an end, as a multiple of its start; this project's choice. Loads
are taken as uniform on a logarithmic scale within each bin, so this bin ends at the square of
this factor.
"""

RTT_MS_MAX = 10_000.0
DENSITY_OFF_MAX = 0.02
"""Tolerance for the sum of densities, which CrUX rounds to four digits."""

_BIN = ("start", "end", "density")
_NOT_NEEDED = ("origin", "form_factor", "yyyymm", "date", "country_code")
_NAMES = {name: (name, f"bin.{name}", f"bin_{name}") for name in _BIN}
"""Column names of each field: BigQuery writes `bin.start`, an export `bin_start`."""
_QUANTITIES = (
    *(
        Quantity(name, DELAY, frozenset(_NAMES[name]), dict.fromkeys(_NAMES[name], 1.0))
        for name in ("start", "end")
    ),
    Quantity("density", SHARE, frozenset(_NAMES["density"]), dict.fromkeys(_NAMES["density"], 1.0)),
    *(Quantity(name, PLAIN, bare={name: 1.0}) for name in _NOT_NEEDED),
)

Bins = Sequence[tuple[float, float, float]]
"""Start, end (infinite for the last) and density of each bin, in order."""


def is_crux(text: str, file: str = "users") -> bool:
    """Return whether a file of users is from CrUX: a response of the API, or a table of bins.

    Raises `NetworkError` for what is no table.
    """
    source = Source(file, TABLE, NetworkError)
    if is_json(text):
        records = json_records(text, source)
        if any(_is_answer(record) for _, record in records):
            return True
        return _names_bins(table_of(records, source).rows[0][1])
    _, heading = next(csv_rows(text, source), (0, list[str]()))
    return _names_bins(heading)


def _names_bins(names: Sequence[str]) -> bool:
    heading = " ".join(names).lower()
    return all(word in heading for word in ("start", "density"))


def networks_from_crux(
    text: str, file: str, rate_mbit_s: float | None = None
) -> list[WeightedNetwork]:
    """Return the networks of an API response or a table of bins; `file` is its name for messages.

    Raises `NetworkError` with file, place and remedy.
    """
    source = Source(file, TABLE, NetworkError)
    bins, p75_ms = _bins_of(text, source)
    points = _points(bins, p75_ms, source)
    edges = (0.0, *BORDERS_MS, math.inf)
    found = []
    for low, high in pairwise(edges):
        before, behind = _share_at(points, low), _share_at(points, high)
        if behind > before:
            rtt_ms = round(_rtt_at(points, (before + behind) / 2), 1)
            network = _network(_name(low, high), rtt_ms, rate_mbit_s)
            found.append(WeightedNetwork(network, behind - before))
    return found


def rate_mbit_s_of(rtt_ms: float) -> float:
    """Return the typical downlink rate for a round trip.

    Interpolated linearly between `RATES_MBIT_S` on two logarithmic scales, and constant beyond
    them.
    """
    if rtt_ms <= RATES_MBIT_S[0][0]:
        return RATES_MBIT_S[0][1]
    for (near, fast), (far, slow) in pairwise(RATES_MBIT_S):
        if rtt_ms <= far:
            along = math.log(rtt_ms / near) / math.log(far / near)
            return float(fast * (slow / fast) ** along)
    return RATES_MBIT_S[-1][1]


def _network(name: str, rtt_ms: float, rate_mbit_s: float | None) -> Network:
    # Three digits: the rule is not more precise.
    down = rate_mbit_s or float(f"{rate_mbit_s_of(rtt_ms):.3g}")
    return Network(name, round(down * 1e6), round(down * UP_SHARE * 1e6), rtt_ms, QUEUE_MS)


def _name(low: float, high: float) -> str:
    if low == 0:
        return f"rtt-below-{high:g}"
    return f"rtt-from-{low:g}" if math.isinf(high) else f"rtt-{low:g}-to-{high:g}"


def _bins_of(text: str, source: Source) -> tuple[Bins, float | None]:
    """Return the bins, and the 75th percentile, ms, or None if it is not given."""
    if not is_json(text):
        return _of_table(read_table(text, source), source), None
    records = json_records(text, source)
    if not any(_is_answer(record) for _, record in records):
        return _of_table(table_of(records, source), source), None
    if len(records) > 1:
        fault = f"{len(records)} answers of the API"
        raise source.refusal(fault, "", "save each in a file of its own, and give one of them")
    return _of_answer(records[0][1], source)


def _is_answer(record: Mapping[str, object]) -> bool:
    return not is_row(record) or "error" in record or "record" in record


def _of_answer(answer: JsonMapping, source: Source) -> tuple[Bins, float | None]:
    if isinstance(answer.get("error"), Mapping):
        message = excerpt(answer["error"].get("message", "no message"))
        raise source.refusal(
            f"an error of the API: {message}",
            "error",
            "correct the request as it says, and save the new answer",
        )
    if "record" not in answer:
        fault = "neither rows nor an answer of the CrUX API"
        remedy = 'write an object a row, such as {"rtt_ms": 40, "down_mbit_s": 20}'
        raise source.refusal(fault, "", remedy)
    place = "record.metrics.round_trip_time"
    metric: object = answer
    for key in place.split("."):
        metric = metric.get(key) if isinstance(metric, Mapping) else None
    if not isinstance(metric, Mapping):
        raise source.refusal("it has no such metric", place, 'ask for `"round_trip_time"`')
    if not isinstance(listed := metric.get("histogram"), list):
        raise source.refusal("no histogram", place, "give the answer of records:queryRecord")
    bins = []
    for number, each in enumerate(listed):
        if not isinstance(each, Mapping):
            raise source.refusal("no bin", f"{place}.histogram[{number}]", "get it again")
        where = f"{place}.histogram[{number}]"
        bins.append(_bin([each.get(key) for key in _BIN], where, source))
    percentiles = metric.get("percentiles")
    p75 = percentiles.get("p75") if isinstance(percentiles, Mapping) else None
    where = f"{place}.percentiles.p75"
    return bins, None if p75 is None else _number(p75, where, source, RTT_MS_MAX)


def _of_table(table: Table, source: Source) -> Bins:
    if not table.rows:
        raise source.refusal("no rows", "", "write start,end,density and a row a bin")
    refuse_long_rows(table, source)
    (line, names), *rows = table.rows
    columns = read_heading(names, _QUANTITIES, line, source)
    used = {column.index for column in columns.values()}
    for index, name in enumerate(names):
        if index not in used:
            known = ", ".join((*_BIN, *_NOT_NEEDED))
            remedy = f"remove it, or use {known}"
            raise source.refusal(f"unknown column `{excerpt(name)}`", line, remedy)
    for word in _BIN:
        if word not in columns:
            raise source.refusal(f"no column `{word}`", line, "write start,end,density")
    wanted = [columns[word] for word in _BIN]
    cells = [
        (place, [row[each.index] if each.index < len(row) else "" for each in wanted])
        for place, row in rows
    ]
    signs = {density[-1:] == "%" for _, (_, _, density) in cells}
    if len(signs) > 1:
        fault = "some densities have a percent sign and some have none"
        raise source.refusal(fault, line, "write all of them with it, or none")
    texts = [
        (place, [start, end, density.removesuffix("%").rstrip()])
        for place, (start, end, density) in cells
    ]
    style = style_of(table.separator, [(place, text) for place, row in texts for text in row])
    scale = 0.01 if True in signs else wanted[2].scale
    added: dict[tuple[float, float], float] = {}
    for place, row in texts:
        scales = (wanted[0].scale, wanted[1].scale, scale)
        start, end, density = _bin(row, place, source, style, scales)
        # One row per form factor or origin: their loads are added up.
        added[start, end] = added.get((start, end), 0.0) + density
    return [(*ends, density) for ends, density in sorted(added.items())]


_JSON_STYLE = style_of("", ())


def _bin(
    values: Sequence[object],
    where: str,
    source: Source,
    style: NumberStyle = _JSON_STYLE,
    scales: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> tuple[float, float, float]:
    start, end, density = values
    no_end = end is None or str(end).strip().lower() in ("", "null")
    return (
        _number(start, where, source, RTT_MS_MAX, style, scales[0]),
        math.inf if no_end else _number(end, where, source, RTT_MS_MAX, style, scales[1]),
        0.0 if density is None else _number(density, where, source, 1.0, style, scales[2]),
    )


def _number(
    value: object,
    where: str,
    source: Source,
    most: float,
    style: NumberStyle = _JSON_STYLE,
    scale: float = 1.0,
) -> float:
    is_value = isinstance(value, int | float | str) and not isinstance(value, bool)
    number = style.read(str(value).strip(), where, source) if is_value else None
    if number is None or not 0 <= number * scale <= most:
        fault = f"`{excerpt(value)}` is not a number from 0 to {most:g}"
        remedy = "write start and end in ms, density as a share of 1 or with a percent sign"
        raise source.refusal(fault, where, remedy)
    return number * scale


Points = Sequence[tuple[float, float]]
"""Round trips, ms, and the share of loads below each; both ascending."""


def _points(bins: Bins, p75_ms: float | None, source: Source) -> Points:
    total = sum(density for _, _, density in bins)
    if not bins or abs(total - 1) > DENSITY_OFF_MAX:
        fault = f"the densities of {len(bins)} bins add up to {total:.4g}"
        raise source.refusal(fault, "", "give the whole histogram of one record, whose sum is 1")
    longest = max((ms for bin_ in bins for ms in bin_[:2] if not math.isinf(ms)), default=0.0)
    if 0 < longest <= RTT_MS_MAX / 1000:
        fault = f"all bins end at {longest:g} ms, as in seconds"
        raise source.refusal(
            fault, "", "write start and end in ms, or name them `start_s`, `end_s`"
        )
    points = [(bins[0][0], 0.0)]
    share = 0.0
    for start, end, density in bins:
        if start < points[-1][0] or not start < end:
            fault = f"a bin from {start:g} to {end:g} behind one to {points[-1][0]:g}"
            raise source.refusal(fault, "", "give bins that follow one another")
        if start > points[-1][0]:
            # The densities add up to 1, so gaps between bins have no loads.
            points.append((start, share))
        share += density / total
        points.append((end, share))
    points[-1] = (points[-1][0], 1.0)
    between = [
        at
        for at, ((low, before), (high, behind)) in enumerate(pairwise(points), start=1)
        if p75_ms is not None and low < p75_ms < high and before < 0.75 < behind
    ]
    if between and p75_ms is not None:
        points.insert(between[0], (p75_ms, 0.75))
    if math.isinf(points[-1][0]):
        begins = points[-2][0]
        if begins == 0:
            fault = "one bin, from 0 without an end"
            raise source.refusal(fault, "", "give bins that divide the round trips")
        points[-1] = (begins * OPEN_END**2, 1.0)
    return points


def _share_at(points: Points, rtt_ms: float) -> float:
    for (low, before), (high, behind) in pairwise(points):
        if rtt_ms < high:
            return before + (behind - before) * _along(low, high, rtt_ms)
    return 1.0


def _rtt_at(points: Points, share: float) -> float:
    for (low, before), (high, behind) in pairwise(points):
        if share <= behind and behind > before:
            along = (share - before) / (behind - before)
            return low + (high - low) * along if low == 0 else low * (high / low) ** along
    return points[-1][0]


def _along(low: float, high: float, rtt_ms: float) -> float:
    """Return the share of a bin's loads below `rtt_ms`, on a logarithmic scale."""
    if rtt_ms <= low:
        return 0.0
    return rtt_ms / high if low == 0 else math.log(rtt_ms / low) / math.log(high / low)
