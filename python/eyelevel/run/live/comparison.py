"""Compare replays with live loads: from their records to numbers; pure.

Das 2014, figure 4-2: 100 loads of a page over QUIC took 718 ± 95 ms live and 743 ± 18 ms replayed.
Replays vary less, which is their purpose, but must have no bias, a difference that remains however
often both are repeated. Loads of one block are neighbours in time, so that temporary changes of the
network affect both.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.paired import hodges_lehmann
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.store.outcomes import COUNTED

LIVE_SIDE, REPLAY_SIDE = "live", "replay"
SIDES = (LIVE_SIDE, REPLAY_SIDE)
COMPARED = (
    "page_load_time_ms",
    "time_to_first_byte_ms",
    "first_contentful_paint_ms",
    "largest_contentful_paint_ms",
    "speed_index_ms",
    "object_count",
    "received_bytes",
)
"""The metrics, of which the first decides; the last two show whether it was the same page."""
PARTS = ("lookup_ms", "connect_ms", "wait_ms")
"""The parts of a request, in their order."""
PUBLISHED = {LIVE_SIDE: (718.0, 95.0), REPLAY_SIDE: (743.0, 18.0)}
"""The published mean and standard deviation of the page load time in ms: Das 2014, section
4.2.1."""


@dataclass(frozen=True)
class Load:
    """One load of either side; the metrics are None if it does not count."""

    side: str
    repetition: int
    outcome: str
    outcome_detail: str
    metrics: Mapping[str, float | None]
    objects: Sequence[JsonMapping] = ()

    @property
    def is_counted(self) -> bool:
        """Whether it is compared; late packets exclude no load, as in a run."""
        return self.outcome in COUNTED


@dataclass(frozen=True)
class Summary:
    """One metric of one side, over its loads that count, in the metric's unit."""

    loads: int
    mean: float | None
    median: float | None
    standard_deviation: float | None

    @property
    def variation(self) -> float | None:
        """The standard deviation as a share of the mean."""
        if self.standard_deviation is None or not self.mean:
            return None
        return self.standard_deviation / self.mean

    def as_json(self) -> JsonObject:
        """Return the summary as JSON, under the same names."""
        return {
            "loads": self.loads,
            "mean": self.mean,
            "median": self.median,
            "standard_deviation": self.standard_deviation,
            "coefficient_of_variation": self.variation,
        }


@dataclass(frozen=True)
class Compared:
    """One metric: both sides, and replay - live within blocks whose loads both count."""

    name: str
    sides: Mapping[str, Summary]
    bias: Estimate

    def as_json(self) -> JsonObject:
        """Return the comparison as JSON, under the same names."""
        sides = {side: summary.as_json() for side, summary in self.sides.items()}
        return {**sides, "bias": self.bias.as_json(), "blocks": self.bias.n}


def compare(loads: Sequence[Load]) -> list[Compared]:
    """Return the comparisons of each metric of COMPARED that some load has."""
    found = []
    for name in COMPARED:
        sides = {side: _summary(_values(loads, side, name)) for side in SIDES}
        live, replay = (_values(loads, side, name) for side in SIDES)
        both = sorted(live.keys() & replay.keys())
        bias = hodges_lehmann([replay[n] for n in both], [live[n] for n in both])
        if live or replay:
            found.append(Compared(name, sides, bias))
    return found


def verdict(primary: Compared) -> str:
    """Return a sentence on the bias of the primary metric."""
    bias, title = primary.bias, METRICS_BY_NAME[primary.name].title
    if bias.value is None or bias.low is None or bias.high is None:
        return f"it is unknown whether replays are biased: {bias.reason}"
    interval = f"{bias.low:+.0f} to {bias.high:+.0f} ms"
    if not bias.excludes_zero:
        return f"no bias can be told: {title} differs by {bias.value:+.0f} ms ({interval})"
    way = "slower" if bias.value > 0 else "faster"
    return f"replays are {way} than the page: {title} differs by {bias.value:+.0f} ms ({interval})"


def by_origin(loads: Iterable[Load]) -> list[JsonObject]:
    """Return the median durations of connections and responses by host and side, in ms.

    `lookup_ms` is DNS, `connect_ms` the opening of TCP and TLS together, `wait_ms` the time from a
    request's last byte to its response's first; None if no load has any. Differences are those of
    the resolver, the round trips or the servers.
    """
    seen: dict[tuple[str, str, str], list[float]] = {}
    hosts: dict[str, None] = {}
    for load in loads:
        for item in load.objects if load.is_counted else ():
            host = urlsplit(item["url"]).hostname or ""
            if item["from"] != "network" or not host:
                continue
            hosts.setdefault(host)
            for part, length_ms in _parts(item):
                seen.setdefault((host, load.side, part), []).append(length_ms)
    return [
        {
            "host": host,
            **{
                side: {part: _median(seen.get((host, side, part), ())) for part in PARTS}
                for side in SIDES
            },
        }
        for host in hosts
    ]


def _parts(item: JsonMapping) -> Iterator[tuple[str, float]]:
    """Yield the PARTS of an object's request with their durations in ms."""
    for part in PARTS[:2]:
        if item[part] is not None:
            began, ended = item[part]
            yield part, ended - began
    if item["sent_ms"] is not None and item["response_ms"] is not None:
        yield PARTS[2], item["response_ms"] - item["sent_ms"]


def protocols(loads: Iterable[Load]) -> dict[str, dict[str, int]]:
    """Return the number of objects by side and protocol."""
    counted = {side: Counter[str]() for side in SIDES}
    for load in loads:
        for item in load.objects if load.is_counted else ():
            if item["from"] == "network" and item["protocol"] is not None:
                counted[load.side][item["protocol"]] += 1
    return {side: dict(counts.most_common()) for side, counts in counted.items()}


def _values(loads: Iterable[Load], side: str, name: str) -> dict[int, float]:
    """Return one side's values of a metric by repetition."""
    return {
        load.repetition: value
        for load in loads
        if load.side == side and load.is_counted and (value := load.metrics.get(name)) is not None
    }


def _summary(by_repetition: Mapping[int, float]) -> Summary:
    values = list(by_repetition.values())
    if not values:
        return Summary(0, None, None, None)
    mean = math.fsum(values) / len(values)
    spread = statistics.stdev(values) if len(values) > 1 else None
    return Summary(len(values), mean, statistics.median(values), spread)


def _median(values: Sequence[float]) -> float | None:
    return round(statistics.median(values), 3) if values else None
