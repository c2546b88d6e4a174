"""The yardstick: the same bulk data over the kernel's TCP and over our QUIC.

Both stacks of a pair have the same congestion control, window and pacing, and alternate; a cell is
one network and one pair. The overhead of headers differs by protocol and is corrected for: a
stack's share of body in the bytes on the wire is measured once, without loss.

Define one cell of the yardstick: a network, a pair of stacks, and each one's transfers. The cache
of the yardstick's cells, for this build on this kernel.
"""

import hashlib
import json
import math
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import Self

from eyelevel.analysis.stats.estimate import Estimate, undetermined, welch_estimate
from eyelevel.base.errors import LabError, NetworkError, OutsideError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import KEPT
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.validation.bulk import Bulk, bulk_site, transfer
from eyelevel.lab.binary import binary_digest
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME, get_network, why_none
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.store.disk import temporary_folder, write_whole

_LOSSES_MIN = 100
"""The fewest pooled losses over a lossy network; with fewer, a cell shows little of their
effect."""


@dataclass(frozen=True)
class Side:
    """One stack of a cell; medians over its runs.

    Goodput counts the body, `corrected_bit_s` also the headers' share. `retransmitted_share` and
    `lost_outside_packets` pool all runs' packets; `lateness_us_p99` is that of the path in the
    worst run; `failed_runs` broke off and are not in the medians.
    """

    stack: str
    goodput_bit_s: float
    corrected_bit_s: float
    retransmitted_packets: int
    retransmitted_share: float
    queue_delay_ms_p50: float | None
    queue_delay_ms_p95: float | None
    lateness_us_p99: float | None
    lost_outside_packets: int
    failed_runs: int
    runs: tuple[float, ...]

    @classmethod
    def of(cls, stack: str, moved: Sequence[Bulk], share: float, failed: int) -> Self:
        """Summarise a stack's runs.

        `share` is the body's share of the bytes on the wire, `failed` the number of further runs
        that broke off.
        """
        sent = sum(transfer.sent_packets for transfer in moved)
        repeated = sum(transfer.retransmitted_packets for transfer in moved)
        goodput = statistics.median(transfer.goodput_bit_s for transfer in moved)
        late = [us for transfer in moved if (us := transfer.lateness_us_p99) is not None]
        return cls(
            stack=stack,
            goodput_bit_s=goodput,
            corrected_bit_s=goodput / share,
            retransmitted_packets=repeated,
            retransmitted_share=repeated / sent if sent else 0.0,
            queue_delay_ms_p50=_median([transfer.queue_delay_ms_p50 for transfer in moved]),
            queue_delay_ms_p95=_median([transfer.queue_delay_ms_p95 for transfer in moved]),
            lateness_us_p99=max(late, default=None),
            lost_outside_packets=sum(transfer.lost_outside_packets for transfer in moved),
            failed_runs=failed,
            runs=tuple(transfer.goodput_bit_s / share for transfer in moved),
        )


@dataclass(frozen=True)
class Cell:
    """One network and one pair.

    `ratio`: QUIC's corrected goodput over TCP's, geometric means, with its 95 % interval.
    `few_losses`: fewer than LOSSES_MIN pooled over a lossy network.
    """

    network: str
    loss: float
    congestion_control: str
    tcp: Side
    quic: Side
    ratio: Estimate
    few_losses: bool

    @classmethod
    def of(cls, network: str, loss: float, control: str, tcp: Side, quic: Side) -> Self:
        """Compare the two sides; `loss` is the probability of losing a packet, one way."""
        losses = min(tcp.retransmitted_packets, quic.retransmitted_packets)
        few = loss > 0 and losses < _LOSSES_MIN
        return cls(network, loss, control, tcp, quic, ratio_of(quic.runs, tcp.runs), few)

    def as_json(self) -> JsonObject:
        """Return the JSON of a cell (docs/reference/yardstick.md)."""
        return asdict(self) | {"ratio": self.ratio.as_json()}

    @classmethod
    def of_json(cls, found: JsonMapping) -> Self:
        """Return the cell of a JSON object. Raises KeyError or TypeError for another form."""
        sides = {
            name: Side(**{**found[name], "runs": tuple(found[name]["runs"])})
            for name in ("tcp", "quic")
        }
        return cls(**{**found, **sides, "ratio": Estimate.of_json(found["ratio"])})


def ratio_of(quic: Sequence[float], tcp: Sequence[float]) -> Estimate:
    """Return the ratio of geometric means with Welch's interval on logarithms."""
    if not all(goodput > 0 for goodput in (*quic, *tcp)):
        return undetermined("a run moved nothing")
    if min(len(quic), len(tcp)) < 2:
        ratio = statistics.geometric_mean(quic) / statistics.geometric_mean(tcp)
        return undetermined("one run shows no spread", value=ratio)
    on_logs = welch_estimate(*([math.log(goodput) for goodput in side] for side in (quic, tcp)))
    value, low, high = (math.exp(x or 0.0) for x in (on_logs.value, on_logs.low, on_logs.high))
    return Estimate(value, low, high)


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


Pair = tuple[str, str]
PAIRS: tuple[Pair, ...] = (("tcp+", "quic"), ("tcp+bbr", "quic+bbr"))
PRESETS = ("dsl", "lte", "3g", "da2gc", "mss")
FAST_PRESETS = ("starlink", "5g")
"""Networks of 105 and 220 Mbit/s, with synthetic courses."""
GRID_LOSS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.06)
GRID_RTT_MS = (10.0, 40.0, 200.0, 760.0)
GRID_RATE_BIT_S = 10_000_000
GRID_QUEUE_MS = 200.0

RUNS = 5
RUNS_MAX = 60
"""The most runs of a lossy cell, to pool rare losses: at 0.1 % and 760 ms a run of 30 s loses
three."""
FAILED_MAX = 3
"""The most transfers of a cell that may break off; each is counted and reported."""
BODY_BYTES = 10_000_000
FAST_S = 3.2
"""The time of 10 MB over the fastest of the papers' networks. Faster ones get as many bytes as they
carry in this time, since 10 MB would be over within the start."""
DURATION_MS = 30_000
HEADER_NETWORK = Network("headers", 100_000_000, 100_000_000, 10.0, 200.0)


def presets() -> list[Network]:
    """Return the networks of Wolsing et al. 2019."""
    return [NETWORKS_BY_NAME[name] for name in PRESETS]


def fast_presets() -> list[Network]:
    """Return the table's networks that are faster than the papers', with and without their course.

    Without it a network has its mean rate: a transfer meets only the first seconds of a course.
    """
    networks = [NETWORKS_BY_NAME[name] for name in FAST_PRESETS]
    even = [replace(n, name=f"{n.name}-even", synth_down=None, synth_up=None) for n in networks]
    return [*networks, *even]


def body_bytes(network: Network) -> int:
    """Return the most bytes that are transferred over a network."""
    return max(BODY_BYTES, round(network.rate_down_bit_s * FAST_S / 8))


def grid() -> list[Network]:
    """Return the grid of one-way losses and round trips, with the same loss in each direction."""
    return [
        Network(
            f"{rtt:g}ms-{loss:.1%}",
            GRID_RATE_BIT_S,
            GRID_RATE_BIT_S,
            rtt,
            GRID_QUEUE_MS,
            loss_down=loss,
            loss_up=loss,
        )
        for rtt in GRID_RTT_MS
        for loss in GRID_LOSS
    ]


def network_of(name: str) -> Network:
    """Return a preset network or a cell of the grid. Raises NetworkError with the nearest name."""
    known = NETWORKS_BY_NAME | {network.name: network for network in (*fast_presets(), *grid())}
    if name in known:
        return known[name]
    if network := get_network(name):
        return network
    raise NetworkError(f"--network: {why_none(name, known)}")


def validate_stacks(
    networks: Sequence[Network],
    pairs: Sequence[Pair],
    runs: int,
    on_step: Callable[[str], None],
    *,
    fresh: bool = False,
    jobs: int = 1,
) -> list[Cell]:
    """Return the cell of every network and pair; those that this build has cached are read.

    `jobs` cells are measured at once, each in labs of its own. Raises LabError if a lab or a
    transfer failed; finished cells stay in the cache.
    """
    wanted = [(network, pair) for network in networks for pair in pairs]
    measured = {} if fresh else _read_cached(wanted, runs)
    stopping = Event()
    missing = [index for index in range(len(wanted)) if index not in measured]
    with temporary_folder("validate") as folder:
        sizes = {body_bytes(wanted[index][0]) for index in missing}
        sites = {size: bulk_site(folder, size) for size in sizes}
        for name in {name for index in missing for name in wanted[index][1]}:
            header_share(name)

        def measure(number: int, index: int) -> Cell:
            network, pair = wanted[index]
            on_step(f"{number} of {len(missing)}, {network.name}: {pair[0]} and {pair[1]}")
            cell = _measure(network, pair, runs, sites[body_bytes(network)], stopping)
            write_cell(_cache_key(network, pair, runs), _order(network, pair), cell)
            return cell

        with ThreadPoolExecutor(jobs) as pool:
            try:
                cells = pool.map(measure, range(1, len(missing) + 1), missing)
                measured |= dict(zip(missing, cells, strict=True))
            except BaseException:
                stopping.set()
                pool.shutdown(cancel_futures=True)
                raise
    return [measured[index] for index in range(len(wanted))]


def _read_cached(wanted: Sequence[tuple[Network, Pair]], runs: int) -> dict[int, Cell]:
    read = (read_cell(_cache_key(network, pair, runs)) for network, pair in wanted)
    return {index: cell for index, cell in enumerate(read) if cell is not None}


def _measure(
    network: Network, pair: Pair, runs: int, site: tuple[Path, str], stopping: Event
) -> Cell:
    moved: dict[str, list[Bulk]] = {name: [] for name in pair}
    failed = dict.fromkeys(pair, 0)
    lossy = network.loss_down > 0
    for run in range(max(runs, RUNS_MAX)):
        pooled = [sum(b.retransmitted_packets for b in moved[name]) for name in pair]
        if run >= runs and not (lossy and runs >= RUNS and min(pooled) < _LOSSES_MIN):
            break
        for name in pair if run % 2 else reversed(pair):
            try:
                moved[name].append(_run(network, name, site, run))
            except LabError:
                failed[name] += 1
                # Transfers that end with the command have not broken off.
                if stopping.is_set() or failed[name] >= FAILED_MAX or not moved[name]:
                    raise
    tcp, quic = (Side.of(name, moved[name], header_share(name), failed[name]) for name in pair)
    control = STACKS_BY_NAME[pair[0]].congestion_control
    return Cell.of(network.name, network.loss_down, control, tcp, quic)


def _run(network: Network, name: str, site: tuple[Path, str], seed: int) -> Bulk:
    return transfer(
        network,
        STACKS_BY_NAME[name],
        *site,
        seed=seed,
        bytes_max=body_bytes(network),
        duration_ms=DURATION_MS,
    )


@cache
def header_share(name: str) -> float:
    """Return the body's share of the bytes on the wire over a fast path without loss."""
    with temporary_folder("validate") as folder:
        site = bulk_site(folder, body_bytes(HEADER_NETWORK))
        transferred = _run(HEADER_NETWORK, name, site, 0)
    return transferred.body_bytes / transferred.wire_bytes


def _order(network: Network, pair: Pair) -> int:
    """Return the cell's position in a table of all."""
    names = [network.name for network in (*presets(), *fast_presets(), *grid())]
    place = names.index(network.name) if network.name in names else len(names)
    return place * len(PAIRS) + PAIRS.index(pair)


def _cache_key(network: Network, pair: Pair, runs: int) -> JsonMapping:
    """Return everything that determines a cell, except build and kernel."""
    return {
        "network": network.stated(),
        "stacks": [asdict(STACKS_BY_NAME[name]) for name in pair],
        "runs": runs,
        "bytes": body_bytes(network),
        "duration_ms": DURATION_MS,
    }


CACHE_VERSION = 1
FLOWS = "flows"
"""The subfolder of short flows."""


@cache
def build() -> JsonObject:
    """Return the versions that determine results: eyelevel's, its binary's digest, the kernel."""
    return {
        "cache": CACHE_VERSION,
        "eyelevel": version("eyelevel"),
        "binary": binary_digest()[:20],
        "kernel": platform.release(),
    }


def read_cell(determined_by: JsonMapping) -> Cell | None:
    """Return the cell that this build measured with these settings, or None."""
    kept = _read(folder() / f"{_key(determined_by)}.json")
    return kept[1] if kept else None


def write_cell(determined_by: JsonMapping, order: int, cell: Cell) -> None:
    """Cache a cell; `order` is its place in a table."""
    _write(folder(), determined_by, {"order": order, "cell": cell.as_json()})


def read_cells() -> list[Cell]:
    """Return the cells that this build measured on this kernel, in the table's order.

    If a cell was measured several times, it is the one with the most runs.
    """
    kept = [cell for file in sorted(folder().glob("*.json")) if (cell := _read(file))]
    ordered = sorted(kept, key=lambda cell: (cell[0], len(cell[1].tcp.runs)))
    cells = {(cell.network, cell.congestion_control): cell for _, cell in ordered}
    return list(cells.values())


def read_flow(determined_by: JsonMapping) -> JsonObject | None:
    """Return the short flow that this build measured with these settings, as JSON, or None."""
    try:
        return _object(folder() / FLOWS / f"{_key(determined_by)}.json")
    except OutsideError:
        return None  # absent or truncated: measured again


def write_flow(determined_by: JsonMapping, flow: JsonMapping) -> None:
    """Cache a short flow."""
    _write(folder() / FLOWS, determined_by, flow)


def _write(folder: Path, determined_by: JsonMapping, document: JsonMapping) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{_key(determined_by)}.json", json.dumps(document).encode())


def folder() -> Path:
    """Return the folder with the cells of this build on this kernel."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    text = json.dumps(build(), sort_keys=True)
    return Path(base) / "eyelevel" / "stacks" / hashlib.sha256(text.encode()).hexdigest()[:20]


def _key(determined_by: JsonMapping) -> str:
    text = json.dumps(determined_by, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _read(file: Path) -> tuple[int, Cell] | None:
    try:
        document = _object(file)
        return int(document["order"]), Cell.of_json(document["cell"])
    except (OutsideError, ValueError, KeyError, TypeError, AttributeError):
        return None  # absent, or in another form: measured again


def _object(file: Path) -> JsonObject:
    source = Source(str(file), KEPT)
    return parse_object(read_bytes(file, source), source)
