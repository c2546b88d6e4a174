"""The yardstick is the kernel: the same bulk data over its TCP and over our QUIC.

Both stacks of a pair have the same congestion control, window and pacing, and take turns; a cell is
one network and one pair. What headers take differs by protocol and is corrected for: a stack's
share of body in the bytes on the wire is measured once, without loss.
"""

import hashlib
import json
import math
import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scipy import stats as distributions

from eyelevel.lab import find_binary
from eyelevel.networks import NETWORKS_BY_NAME, Network
from eyelevel.plan import STACKS_BY_NAME
from eyelevel.run.bulk import Bulk, bulk_site, transfer

PAIRS: tuple[tuple[str, str], ...] = (("tcp+", "quic"), ("tcp+bbr", "quic+bbr"))
PRESETS = ("dsl", "lte", "3g", "da2gc", "mss")
GRID_LOSS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.06)
GRID_RTT_MS = (10.0, 40.0, 200.0, 760.0)
GRID_RATE_BIT_S = 10_000_000
GRID_QUEUE_MS = 200.0

RUNS = 5
RUNS_MAX = 15
"""Where losses are few, more runs than `RUNS` pool them, up to this."""
REPEATED_PACKETS_MIN = 100
BODY_BYTES = 10_000_000
DURATION_MS = 30_000
CONFIDENCE = 0.95
HEADER_NETWORK = Network("headers", 100_000_000, 100_000_000, 10.0, 200.0)
CACHE_VERSION = 1


@dataclass(frozen=True)
class Side:
    """One stack of a cell; medians over its runs. Goodput counts the body, `corrected` also what
    headers took. `retransmitted_share` pools all runs' packets."""

    stack: str
    goodput_bit_s: float
    corrected_bit_s: float
    retransmitted_packets: int
    retransmitted_share: float
    queue_delay_ms_p95: float | None
    runs: tuple[float, ...]


@dataclass(frozen=True)
class Cell:
    """One network and one pair. `ratio`: QUIC's corrected goodput to TCP's, geometric means, with
    its interval; None where a run moved nothing. `few_losses`: fewer than 100 pooled over a lossy
    network."""

    network: str
    congestion_control: str
    tcp: Side
    quic: Side
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    few_losses: bool


def grid() -> list[Network]:
    """The grid of one-way loss and round trip, each direction losing alike."""
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


def presets() -> list[Network]:
    """The networks of Wolsing et al. 2019."""
    return [NETWORKS_BY_NAME[name] for name in PRESETS]


def validate_stacks(
    networks: Sequence[Network],
    pairs: Sequence[tuple[str, str]],
    runs: int,
    on_step: Callable[[str], None],
    *,
    fresh: bool = False,
) -> list[Cell]:
    """Every network with every pair; a cell that this build on this kernel measured is read.

    Raises LabError where a lab or a transfer failed.
    """
    cells = []
    with TemporaryDirectory(prefix="eyelevel-validate-") as folder:
        site, url = bulk_site(Path(folder), BODY_BYTES)
        for network in networks:
            for pair in pairs:
                key = _key(network, pair, runs)
                found = None if fresh else _read(key)
                if found is None:
                    on_step(f"{network.name}: {pair[0]} and {pair[1]}")
                    found = _measure(network, pair, runs, site, url)
                    _write(key, found)
                cells.append(found)
    return cells


def _measure(network: Network, pair: tuple[str, str], runs: int, site: Path, url: str) -> Cell:
    moved: dict[str, list[Bulk]] = {name: [] for name in pair}
    lossy = network.loss_down > 0
    for run in range(max(runs, RUNS_MAX)):
        pooled = [sum(b.retransmitted_packets for b in moved[name]) for name in pair]
        if run >= runs and not (lossy and runs >= RUNS and min(pooled) < REPEATED_PACKETS_MIN):
            break
        for name in pair if run % 2 else reversed(pair):
            moved[name].append(_run(network, name, site, url, run))
    tcp, quic = (_side(name, moved[name], header_share(name)) for name in pair)
    ratio = ratio_of(quic.runs, tcp.runs)
    return Cell(
        network=network.name,
        congestion_control=STACKS_BY_NAME[pair[0]].congestion_control,
        tcp=tcp,
        quic=quic,
        ratio=ratio[0],
        ratio_low=ratio[1],
        ratio_high=ratio[2],
        few_losses=lossy
        and min(tcp.retransmitted_packets, quic.retransmitted_packets) < REPEATED_PACKETS_MIN,
    )


def _run(network: Network, name: str, site: Path, url: str, seed: int) -> Bulk:
    return transfer(
        network,
        STACKS_BY_NAME[name],
        site,
        url,
        seed=seed,
        bytes_max=BODY_BYTES,
        duration_ms=DURATION_MS,
    )


def _side(name: str, moved: Sequence[Bulk], share: float) -> Side:
    sent = sum(each.sent_packets for each in moved)
    repeated = sum(each.retransmitted_packets for each in moved)
    delays = [d for each in moved if (d := each.queue_delay_ms_p95) is not None]
    goodput = statistics.median(each.goodput_bit_s for each in moved)
    return Side(
        stack=name,
        goodput_bit_s=goodput,
        corrected_bit_s=goodput / share,
        retransmitted_packets=repeated,
        retransmitted_share=repeated / sent if sent else 0.0,
        queue_delay_ms_p95=statistics.median(delays) if delays else None,
        runs=tuple(each.goodput_bit_s / share for each in moved),
    )


@cache
def header_share(name: str) -> float:
    """The body's share in the bytes on the wire over a fast path without loss."""
    with TemporaryDirectory(prefix="eyelevel-validate-") as folder:
        site, url = bulk_site(Path(folder), BODY_BYTES)
        found = _run(HEADER_NETWORK, name, site, url, 0)
    return found.body_bytes / found.wire_bytes


def ratio_of(
    quic: Sequence[float], tcp: Sequence[float]
) -> tuple[float | None, float | None, float | None]:
    """The ratio of geometric means with Welch's interval on logarithms; None where it has none."""
    if not all(each > 0 for each in (*quic, *tcp)):
        return None, None, None
    logs = [[math.log(each) for each in side] for side in (quic, tcp)]
    difference = statistics.fmean(logs[0]) - statistics.fmean(logs[1])
    if min(len(quic), len(tcp)) < 2:
        return math.exp(difference), None, None
    variances = [statistics.variance(side) / len(side) for side in logs]
    error = math.sqrt(sum(variances))
    if error == 0.0:
        return (math.exp(difference),) * 3
    freedom = error**4 / sum(v**2 / (len(s) - 1) for v, s in zip(variances, logs, strict=True))
    half = float(distributions.t.ppf((1 + CONFIDENCE) / 2, freedom)) * error
    return math.exp(difference), math.exp(difference - half), math.exp(difference + half)


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "eyelevel" / "stacks"


def _key(network: Network, pair: tuple[str, str], runs: int) -> str:
    """Of everything that a cell depends on: settings, this build's binary, the kernel."""
    determined_by: Mapping[str, Any] = {
        "cache": CACHE_VERSION,
        "network": network.settings() | {"name": network.name},
        "stacks": [asdict(STACKS_BY_NAME[name]) for name in pair],
        "runs": runs,
        "bytes": BODY_BYTES,
        "duration_ms": DURATION_MS,
        "version": version("eyelevel"),
        "binary": _binary_digest(),
        "kernel": platform.release(),
    }
    text = json.dumps(determined_by, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def _binary_digest() -> str:
    with Path(find_binary()).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(key: str) -> Cell | None:
    try:
        found = json.loads((_folder() / f"{key}.json").read_text(encoding="utf-8"))
        sides = {
            name: Side(**{**found[name], "runs": tuple(found[name]["runs"])})
            for name in ("tcp", "quic")
        }
        return replace(Cell(**found), **sides)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # absent, or of another shape: measured anew


def _write(key: str, cell: Cell) -> None:
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{key}.{os.getpid()}.part"
    part.write_text(json.dumps(asdict(cell)), encoding="utf-8")
    part.replace(folder / f"{key}.json")
