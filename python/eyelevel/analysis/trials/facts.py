"""Extract the columns that a comparison needs, besides metrics, from one record.

A study has 150,000 records of tens of kilobytes each: they are read one by one, and only this row
of small columns remains of each.

Compute one trial's row: its machine, its facts, metrics, visual progress and waits. Test whether
stacks differ in how often their loads time out, or their attempts fail. The differences between
stacks that can only be measured: one table of columns and titles.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import polars as pl

from eyelevel.analysis.metrics.catalogue import Measured
from eyelevel.analysis.metrics.network import cleartext_share, find_fetched_objects
from eyelevel.analysis.stats.hypothesis import RateTest, rates_differ
from eyelevel.analysis.trials.limits import LIMITS, limits_of
from eyelevel.analysis.trials.waits import MEASURES, WAITS_COLUMNS, measures_of, waits_of
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.user_timings import user_timings
from eyelevel.store.frames import Frames
from eyelevel.store.hashing import canonical_json
from eyelevel.store.outcomes import CENSORED, NOT_RECORDED, OUTCOMES_BY_NAME
from eyelevel.store.unused_connections import count_unused_connections, outlives_visits

TRIAL_COLUMNS: dict[str, pl.DataType] = {
    "hash": pl.String(),
    "site": pl.String(),
    "network": pl.String(),
    "stack": pl.String(),
    "stack_preset": pl.String(),
    "block": pl.String(),
    "repetition": pl.Int64(),
    "position": pl.Int64(),
    "seed": pl.Int64(),
    "outcome": pl.String(),
    "outcome_detail": pl.String(),
    "started_at": pl.String(),
}

FACT_COLUMNS: dict[str, pl.DataType] = {
    "missed": pl.String(),  # URLs without their queries, sorted, one per line
    "final_picture": pl.Binary(),  # shades of grey; null: not taken
    "largest_contentful_paint_of": pl.String(),  # URL without its query, else a selector
    "cpu_foreign_share": pl.Float64(),
    "cpu_steal_share": pl.Float64(),
    "cpu_pressure_share": pl.Float64(),
    "timer_gap_ms": pl.Float64(),  # not explained by a long task; null: no timer
    "wall_ms": pl.Float64(),  # of the whole trial
    "waited_for_host_ms": pl.Float64(),  # before it, for a quiet machine
    "lateness_us_p99": pl.Float64(),  # in the worse direction
    "lateness_us_max": pl.Float64(),
    "objects": pl.Int64(),  # that came from the network
    "origins": pl.Int64(),
    "server_addresses": pl.Int64(),  # that objects came from; null: not reported by the browser
    "encoded_bytes": pl.Int64(),
    "user_timings": pl.String(),  # canonical JSON: ms by metric; null: the page has none
    "cleartext_share": pl.Float64(),  # of the bytes of answers; null: none came
    "request_head_bytes": pl.Float64(),  # as encoded, mean, with insertions into QPACK's table
    "response_head_bytes": pl.Float64(),
    "connections_opened": pl.Float64(),  # as the servers counted them; null: not counted
    "unused_connections": pl.Float64(),
    "unused_connection_bytes": pl.Float64(),
    "packets_up_per_down": pl.Float64(),
    "browser_cpu_s": pl.Float64(),
    "server_cpu_ms": pl.Float64(),
    "stack_settings": pl.String(),  # canonical JSON
    "versions": pl.String(),  # canonical JSON
    "limit_ms": pl.Float64(),  # the time limit of the load
    "retried": pl.Int64(),  # number of failed attempts before
    "retried_because": pl.String(),  # one line per failed attempt: outcome and detail
    "cross_traffic": pl.String(),  # canonical JSON; null: none
    "machine": pl.String(),  # its ID; null: the run was on one machine
    "slot": pl.Int64(),  # of the machine, from 1 on
    "browser_cores": pl.Int64(),  # null: all, as none was reserved for the lab
    **dict.fromkeys((*MEASURES, *LIMITS), pl.Float64()),
}


def facts_of(record: JsonMapping) -> tuple[object, ...]:
    """Return the values of TRIAL_COLUMNS and then of FACT_COLUMNS."""
    trial = record["trial"]
    of_trial = [trial[name] if name in trial else record[name] for name in TRIAL_COLUMNS]
    fetched = find_fetched_objects(record)
    picture = record["browser"]["final_picture"]
    return (
        *of_trial,
        "\n".join(sorted(list_missed_urls(record))),
        bytes.fromhex(picture) if picture else None,
        _largest_paint(record),
        record["host"].get("cpu_foreign_share"),
        record["host"]["cpu_steal_share"],
        record["host"]["cpu_pressure_share"],
        timer_gap_ms(record),
        record["host"]["wall_ms"],
        record["host"]["waited_for_host_ms"],
        _lateness(record, "lateness_us_p99"),
        _lateness(record, "lateness_us_max"),
        len(fetched),
        len({urlsplit(item["url"]).netloc for item in fetched}),
        _addresses(fetched),
        sum(item["encoded_bytes"] for item in fetched),
        canonical_json(timings) if (timings := user_timings(record)) else None,
        cleartext_share(record),
        _head_bytes(record, "request_head_bytes", "encoder_received_bytes"),
        _head_bytes(record, "response_head_bytes", "encoder_sent_bytes"),
        *_count_unused(record),
        _packets_up_per_down(record),
        record["browser"].get("cpu_s"),
        _server_cpu_ms(record),
        canonical_json(trial["stack_settings"]),
        canonical_json(record["versions"]),
        1000.0 * trial["browser"]["timeout_s"],
        len(_count_retries(record)),
        "\n".join(
            f"{each['outcome']}: {each['outcome_detail']}" for each in _count_retries(record)
        ),
        _cross_traffic(record),
        record["host"].get("machine"),
        record["host"].get("slot"),
        record["host"].get("browser_cores"),
        *measures_of(record),
        *limits_of(record),
    )


def _count_retries(record: JsonMapping) -> Sequence[JsonMapping]:
    retried: Sequence[JsonMapping] = record.get("retried", ())
    return retried


def _addresses(fetched: Sequence[JsonMapping]) -> int | None:
    """Return the number of server addresses that objects came from, whatever the port."""
    return len({item["address"].rsplit(":", 1)[0] for item in fetched if item["address"]}) or None


def _head_bytes(record: JsonMapping, heads: str, inserts: str) -> float | None:
    """Return the mean encoded size of a field section, over the requests that our servers answered.

    It is that of HPACK or QPACK, with the insertions of QPACK's encoder. None on a warm visit,
    whose connections carried the earlier one, too.
    """
    if outlives_visits(record):
        return None
    seen = [connection["in_force"] for connection in record["connections"]]
    counted = [
        connection[heads] + (connection.get(inserts) or 0)
        for connection in seen
        if connection[heads]
    ]
    return sum(counted) / len(record["requests"]) if counted and record["requests"] else None


def _largest_paint(record: JsonMapping) -> str | None:
    """Return the largest element, which may be another one in other loads of the page."""
    navigation = record["navigation"] or {}
    url: str | None = navigation.get("largest_contentful_paint_url")
    element: str | None = navigation.get("largest_contentful_paint_element")
    return url.split("?", 1)[0] if url else element


def _count_unused(record: JsonMapping) -> tuple[float | None, ...]:
    counts = count_unused_connections(record)
    return (counts.connections, counts.unused, counts.bytes) if counts else (None,) * 3


def _packets_up_per_down(record: JsonMapping) -> float | None:
    """Return packets up per packet down, a measure of how often the browser acknowledges."""
    path = record["path"]
    down = path["down"]["packets"] if path else 0
    return path["up"]["packets"] / down if down else None


def _server_cpu_ms(record: JsonMapping) -> float | None:
    seconds = record["host"].get("server_cpu_s")
    return None if seconds is None else seconds * 1e3


def list_missed_urls(record: JsonMapping) -> frozenset[str]:
    """Return the missing URLs of a load, without their queries.

    Queries are removed because pages put random numbers into them.
    """
    missed = [item["url"] for item in record["requests"] if item["match"] == "miss"]
    missed += [item["url"] for item in record["objects"] if (item["failed"] or "") in NOT_RECORDED]
    return frozenset(url.split("?", 1)[0] for url in missed)


def _cross_traffic(record: JsonMapping) -> str | None:
    """Return goodput and kind of each flow, the fairness index, and the page's share, as JSON."""
    traffic = record["cross_traffic"]
    if not traffic:
        return None
    kinds = [(f"{f['congestion_control']} {f['direction']}", f) for f in traffic["flows"]]
    return canonical_json(
        {
            "goodput_bit_s": [[kind, flow["goodput_bit_s"]] for kind, flow in kinds],
            "fairness_index": traffic["fairness_index"],
            "page_share": traffic["load"] and traffic["load"]["page_share"],
        }
    )


def _lateness(record: JsonMapping, key: str) -> float | None:
    """Return the worst lateness of packets read and released, over both directions."""
    ways = [record["path"][way] for way in ("down", "up")] if record["path"] else []
    seen = [timing[key] for way in ways for timing in (way, way["arrival"])]
    return max((timing for timing in seen if timing is not None), default=None)


Spans = Sequence[tuple[float, float]]
"""Starts and lengths, in milliseconds."""


def find_unexplained_gap_ms(gaps_ms: Spans, tasks_ms: Spans) -> float:
    """Return the most by which a gap of the page's timer exceeds the long tasks in it, in ms.

    It is 0 without gaps. Such an excess shows that the renderer did not run although no task of the
    page kept it busy. There is no fixed bound: loads on an idle but slow machine had gaps of 115 to
    222 ms without a long task, since Chromium runs timers after the work of loading. So a load is
    judged by the page's other loads.
    """
    return max(
        (length - _busy_ms(start, length, tasks_ms) for start, length in gaps_ms), default=0.0
    )


def timer_gap_ms(record: JsonMapping) -> float | None:
    """Return the unexplained timer gap of a record in ms, or None.

    There is none if the page did not load, if the browser (Firefox) reports no long tasks, or if
    the load's processes were watched for suspension.
    """
    navigation = record["navigation"]
    if record["host"].get("suspended") is not None:
        return None
    if navigation is None or navigation["long_tasks_ms"] is None:
        return None
    return find_unexplained_gap_ms(navigation["timer_gaps_ms"], navigation["long_tasks_ms"])


def _busy_ms(start: float, length: float, tasks_ms: Spans) -> float:
    end = start + length
    return sum(
        max(0.0, min(end, task_start + task_length) - max(start, task_start))
        for task_start, task_length in tasks_ms
    )


Measure = Callable[[JsonMapping, Frames], Measured]
Row = tuple[object, ...]

# Of loads that ended `ok`: times, and the visual progress from each on, 0 to 1.
PROGRESS_COLUMNS: dict[str, pl.DataType] = {
    "progress_at_ms": pl.List(pl.Float32()),
    "progress_share": pl.List(pl.Float32()),
}

# The inputs that a row was computed from.
SOURCE_COLUMNS: dict[str, pl.DataType] = {
    "record_sha256": pl.String(),
    "record_stamp": pl.String(),
    "frames_stamp": pl.String(),
    "computed_by": pl.String(),
}


@dataclass(frozen=True)
class Columns:
    """The columns of a run's rows: the metrics' names, and the function that measures a load.

    `version` names the code that computes; None: the cache is neither read nor written.
    """

    names: tuple[str, ...]
    measure: Measure
    version: str | None = None

    def schema(self) -> dict[str, pl.DataType]:
        """Return the names and types of all columns."""
        metrics = {name: pl.Float64() for name in self.names}
        return (
            TRIAL_COLUMNS
            | FACT_COLUMNS
            | metrics
            | PROGRESS_COLUMNS
            | WAITS_COLUMNS
            | SOURCE_COLUMNS
        )

    def row(self, record: JsonMapping, frames: Callable[[], Frames]) -> Row:
        """Return a trial's values, in the schema's order, without SOURCE_COLUMNS."""
        found = self.measure(record, frames()) if _has_loaded(record) else Measured({})
        metrics = (found.metrics.get(name) for name in self.names)
        progress = zip(*found.progress, strict=True) if found.progress else (None, None)
        waits = waits_of(record, found.progress, found.metrics.get("speed_index_ms"))
        return (*facts_of(record), *metrics, *map(_as_list, progress), *waits)


def _as_list(values: Iterable[float] | None) -> list[float] | None:
    return None if values is None else list(values)


def _has_loaded(record: JsonMapping) -> bool:
    """Return whether the page loaded, so that the load has values, whether or not it counts."""
    outcome, navigation = record["outcome"], record["navigation"]
    if outcome == "ok" or outcome in CENSORED:
        return bool(outcome == "ok")
    return navigation is not None and navigation["page_load_time_ms"] is not None


def event_rates(table: pl.DataFrame, stacks: Sequence[str], fault: str) -> RateTest:
    """Test outcomes with this `fault`, over the blocks that have a trial of every stack.

    "result": loads that timed out; "instrument": attempts that failed.
    """
    names = [name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.fault == fault]
    # A failed attempt counts even if a retry succeeded.
    again = (pl.col("retried") > 0) if fault == "instrument" else pl.lit(False)
    happened = (
        table.with_columns(event=pl.col("outcome").is_in(names) | again)
        .group_by("block", maintain_order=True)
        .agg(pl.col("stack"), pl.col("event"))
    )
    rows = []
    for names_seen, events in happened.select("stack", "event").iter_rows():
        by_stack = dict(zip(names_seen, events, strict=True))
        if len(by_stack) == len(stacks):
            rows.append([by_stack[stack] for stack in stacks])
    return rates_differ(rows)


@dataclass(frozen=True)
class MeasuredColumn:
    """A column of the trials' table, with its title and format in the table of stacks.

    `is_rare`: it is left out where no stack has any.
    """

    aspect: str
    column: str
    text: str
    is_rare: bool = False


MEASURED: tuple[MeasuredColumn, ...] = (
    MeasuredColumn("encoded head of a request, mean", "request_head_bytes", "{:.0f} bytes"),
    MeasuredColumn("encoded head of a response, mean", "response_head_bytes", "{:.0f} bytes"),
    MeasuredColumn("bytes in cleartext", "cleartext_share", "{:.0%}"),
    MeasuredColumn("objects over HTTP/3", "http3_object_count", "{:.0f}", is_rare=True),
    MeasuredColumn("bytes over HTTP/3", "http3_received_bytes", "{:,.0f} bytes", is_rare=True),
    MeasuredColumn("objects from the cache", "cached_object_count", "{:.0f}", is_rare=True),
    MeasuredColumn("revalidated objects", "revalidated_object_count", "{:.0f}", is_rare=True),
    MeasuredColumn("connections opened", "connections_opened", "{:.0f}"),
    MeasuredColumn("connections without a request", "unused_connections", "{:.0f}"),
    MeasuredColumn(
        "bytes on connections without a request", "unused_connection_bytes", "{:,.0f} bytes"
    ),
    MeasuredColumn("packets up for each packet down", "packets_up_per_down", "{:.2f}"),
    MeasuredColumn("browser's CPU time per load", "browser_cpu_s", "{:.1f} s"),
    MeasuredColumn("servers' CPU time per load", "server_cpu_ms", "{:.1f} ms"),
)


def measure_rows(table: pl.DataFrame, stacks: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return each aspect with its median over the `ok` loads of each stack, or a dash."""
    counted = table.filter(pl.col("outcome") == "ok")
    rows = []
    for measured in MEASURED:
        if measured.is_rare and not counted[measured.column].sum():
            continue
        values = []
        for stack in stacks:
            seen = counted.filter(pl.col("stack") == stack)[measured.column].drop_nulls()
            values.append(measured.text.format(seen.median()) if seen.len() else "\N{EN DASH}")
        rows.append((measured.aspect, values))
    return rows
