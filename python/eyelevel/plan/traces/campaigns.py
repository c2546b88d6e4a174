"""Read tables of measurement campaigns, one row per measurement of a unit: FCC's and MONROE's.

Each is recognised by its heading, and becomes one recording per unit. Their columns:

- FCC, Measuring Broadband America, `curr_httpgetmt.csv` and `curr_httppostmt.csv`: the data
  dictionary of the campaign, whose tests are SamKnows'. `bytes_sec_interval` is the throughput in
  one interval, in bytes/s, `sequence` the interval's number (in the United States of 5 s each, from
  0 on), and a test is one `unit_id` at one `dtime` with one `target`.
- MONROE, `monroe_exp_ping.csv`: README and formatter of the ping experiment (MONROE-PROJECT on
  GitHub, Experiments), which keep what `fping -D` prints: `timestamp` in s, `rtt` in ms, and no
  `rtt` where no answer came.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from eyelevel.base.from_outside.csv_rows import csv_rows
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.traces.delay_rate import DELAY_MS_MAX, RATE_MBIT_S_MAX, DelayRate
from eyelevel.plan.traces.rates import RateSeries

FCC = ("unit_id", "dtime", "target", "bytes_sec_interval", "sequence", "successes")
MONROE = ("nodeid", "iccid", "timestamp", "rtt")

INTERVAL_MS = 5000.0
"""Length of an interval of the FCC's tests: `sequence` 0 is the first 5 s."""
SEQUENCES_MAX = 1000
UNITS_MAX = 100
_FILTER = "keep the rows of the units that are wanted"


@dataclass(frozen=True)
class UnitRates:
    """Rates of one unit of the FCC's campaign, with its tests concatenated."""

    unit: str
    series: RateSeries
    said: str


@dataclass(frozen=True)
class UnitDelays:
    """Round trips of one MONROE node and operator."""

    unit: str
    series: DelayRate
    said: str


def is_fcc(cells: Sequence[str]) -> bool:
    """Return whether the heading is that of FCC's multithreaded throughput tests."""
    return {*FCC} <= {cell.lower() for cell in cells}


def is_monroe(cells: Sequence[str]) -> bool:
    """Return whether the heading is that of MONROE's pings."""
    return {*MONROE} <= {cell.lower() for cell in cells}


def parse_fcc(text: str, source: Source) -> Iterator[UnitRates]:
    """Yield each unit in the file's order. Raises the source's error with its line.

    Failed intervals and incomplete tests are left out and counted.
    """
    tests: dict[str, dict[tuple[str, str], dict[int, float]]] = {}
    failed = 0
    for number, (unit, dtime, target, rate, sequence, successes) in _rows(text, FCC, source):
        of_unit = tests.setdefault(_check_bounds(tests, unit, number, source), {})
        at = _number(sequence, "sequence", number, source, SEQUENCES_MAX)
        mbit_s = _number(rate, "bytes_sec_interval", number, source, RATE_MBIT_S_MAX * 1e6 / 8)
        if successes == "0":
            failed += 1
            continue
        of_unit.setdefault((dtime, target), {})[int(at)] = mbit_s * 8 / 1e6
    for unit, of_unit in tests.items():
        # Timestamps sort as text, since they begin with the year.
        whole = [found for _, found in sorted(of_unit.items()) if [*sorted(found)] == _upto(found)]
        rates = [found[at] for found in whole for at in range(len(found))]
        if not rates:
            raise source.refusal(f"unit {excerpt(unit)} has no whole test", "", _FILTER)
        edges = np.arange(len(rates) + 1, dtype=np.float64) * INTERVAL_MS
        left = len(of_unit) - len(whole)
        said = _several(len(whole), "whole test") + " one behind the other" * (len(whole) > 1)
        said += ", a rate each 5 s, as TCP had it"
        said += f"; left out: {left} that lack{'s' * (left == 1)} an interval" * bool(left)
        said += f"; in the file {_several(failed, 'failed interval')}" * bool(failed)
        yield UnitRates(unit, RateSeries(edges, np.array(rates)), said)


def parse_monroe(text: str, source: Source) -> Iterator[UnitDelays]:
    """Yield each node and operator in the file's order. Raises the source's error with its line."""
    pings: dict[str, dict[float, float]] = {}
    lost: dict[str, int] = {}
    for number, (node, iccid, timestamp, rtt) in _rows(text, MONROE, source):
        unit = _check_bounds(pings, f"{node}-{iccid}", number, source)
        of_unit = pings.setdefault(unit, {})
        if rtt.lower() in ("", "none", "null"):
            lost[unit] = lost.get(unit, 0) + 1
            continue
        at_s = _number(timestamp, "timestamp", number, source, 1e11)
        of_unit[at_s] = _number(rtt, "rtt", number, source, 2 * DELAY_MS_MAX)
        if of_unit[at_s] == 0:
            fault = "a round trip of 0, so none was measured"
            raise source.refusal(fault, str(number), "leave `rtt` empty where no answer came")
    for unit, of_unit in pings.items():
        if len(of_unit) < 2:
            raise source.refusal(f"node {excerpt(unit)} has fewer than two answers", "", _FILTER)
        times = sorted(of_unit)
        at_ms = (np.array(times) - times[0]) * 1000
        gap_s = max(later - earlier for earlier, later in pairwise(times))
        series = DelayRate(
            at_ms=np.append(at_ms, 2 * at_ms[-1] - at_ms[-2]),
            delay_ms=np.array([of_unit[at] for at in times]) / 2,
            down_mbit_s=None,
            up_mbit_s=None,
            of_round_trips=True,
            passed_over=(),
        )
        without = lost.get(unit, 0)
        said = f"{len(times)} answers, at most {gap_s:.4g} s apart"
        said += f", {_several(without, 'ping')} without one"
        yield UnitDelays(unit, series, said)


def _rows(text: str, names: Sequence[str], source: Source) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield each row's line number and the cells of these columns."""
    rows = csv_rows(text, source)
    heading, cells = next(rows)
    words = [cell.lower().lstrip("\ufeff") for cell in cells]
    places = [words.index(name) for name in names]
    if len({*words}) != len(words):
        raise source.refusal("two columns of one name", str(heading), "keep one of them")
    for number, row in rows:
        if len(row) != len(words):
            fault = f"{len(row)} cells, and the heading has {len(words)}"
            raise source.refusal(fault, str(number), "write as many in each row")
        yield number, [row[place] for place in places]


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _check_bounds(units: Mapping[str, object], unit: str, number: int, source: Source) -> str:
    """Return the unit; raises the source's error if there are too many units."""
    if unit not in units and len(units) == UNITS_MAX:
        raise source.refusal(f"more than {UNITS_MAX} units", str(number), _FILTER)
    return unit


def _upto(found: dict[int, float]) -> list[int]:
    return [*range(len(found))]


def _number(text: str, name: str, number: int, source: Source, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most or "_" in text:
        fault = f"{name} is `{excerpt(text)[:40]}`, which is not a number from 0 to {most:g}"
        raise source.refusal(fault, str(number), "write it as the campaign does")
    return value
