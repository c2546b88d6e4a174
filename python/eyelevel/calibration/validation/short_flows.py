"""Flows of a page's size over the kernel's TCP and our QUIC: the time of the last byte.

They are like the yardstick's bulk data (`stacks`), but so short that only the start matters:
initial window, pacing, slow start, headers. Each time is accompanied by the theoretical one.
"""

import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.validation.bulk import Bulk, bulk_site, transfer
from eyelevel.calibration.validation.flow_theory import last_byte_ms
from eyelevel.calibration.validation.stack_cache import read_flow, write_flow
from eyelevel.calibration.validation.stack_cells import ratio_of
from eyelevel.calibration.validation.stacks import Pair, header_share
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.store.disk.folders import temporary_folder

FLOW_BYTES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
RUNS = 9
RUNS_LOSSY = 31
"""The runs with loss: most flows of 10 kB lose nothing, and those that do wait for a timeout."""
DURATION_MS = 120_000
"""The time limit of a flow: 1 MB over the slowest network at a quarter of its rate."""


@dataclass(frozen=True)
class FlowSide:
    """One stack's flows of one size over one network, with times from request to last byte.

    `last_byte_ms` is their median, `theory_ms` the theoretical one without loss.
    """

    stack: str
    last_byte_ms: float
    theory_ms: float
    retransmitted_packets: int
    lateness_us_p99: float | None
    lost_outside_packets: int
    runs: tuple[float, ...]

    @classmethod
    def of(cls, stack: str, moved: Sequence[Bulk], theory_ms: float) -> Self:
        """Summarise a stack's runs."""
        late = [us for transfer in moved if (us := transfer.lateness_us_p99) is not None]
        times = tuple(transfer.duration_ms for transfer in moved)
        return cls(
            stack=stack,
            last_byte_ms=statistics.median(times),
            theory_ms=theory_ms,
            retransmitted_packets=sum(transfer.retransmitted_packets for transfer in moved),
            lateness_us_p99=max(late, default=None),
            lost_outside_packets=sum(transfer.lost_outside_packets for transfer in moved),
            runs=times,
        )


@dataclass(frozen=True)
class Flow:
    """One network, pair and size.

    `ratio`: QUIC's time over TCP's, geometric means, with its 95 % interval; `theory_ratio` is that
    of the theoretical times.
    """

    network: str
    loss: float
    congestion_control: str
    body_bytes: int
    tcp: FlowSide
    quic: FlowSide
    ratio: Estimate
    theory_ratio: float

    @classmethod
    def of(cls, network: Network, control: str, size: int, tcp: FlowSide, quic: FlowSide) -> Self:
        """Compare the two sides."""
        ratio = ratio_of(quic.runs, tcp.runs)
        theory = quic.theory_ms / tcp.theory_ms
        return cls(network.name, network.loss_down, control, size, tcp, quic, ratio, theory)

    def as_json(self) -> JsonObject:
        """Return the JSON of a flow (docs/reference/yardstick.md)."""
        return asdict(self) | {"ratio": self.ratio.as_json()}

    @classmethod
    def of_json(cls, found: JsonMapping) -> Self:
        """Return the flow of a JSON object. Raises KeyError or TypeError for another form."""
        sides = {
            name: FlowSide(**{**found[name], "runs": tuple(found[name]["runs"])})
            for name in ("tcp", "quic")
        }
        return cls(**{**found, **sides, "ratio": Estimate.of_json(found["ratio"])})


def short_flows(
    networks: Sequence[Network],
    pairs: Sequence[Pair],
    runs: int | None,
    on_step: Callable[[str], None],
    *,
    fresh: bool = False,
    jobs: int = 1,
) -> list[Flow]:
    """Return every network, pair and size; those cached by this build on this kernel are read.

    `runs` None: RUNS, or RUNS_LOSSY with loss. Raises LabError if a lab or a transfer failed;
    finished flows stay in the cache.
    """
    wanted = [
        (network, pair, size, runs or (RUNS_LOSSY if network.loss_down else RUNS))
        for network in networks
        for pair in pairs
        for size in FLOW_BYTES
    ]
    kept = {} if fresh else {n: read_flow(_cache_key(*flow)) for n, flow in enumerate(wanted)}
    measured: dict[int, Flow] = {}
    for number, document in kept.items():
        with suppress(KeyError, TypeError):  # absent, or in another form: measured again
            measured[number] = Flow.of_json(document or {})
    missing = [number for number in range(len(wanted)) if number not in measured]
    with temporary_folder("validate") as folder:
        sites = {size: bulk_site(folder, size) for size in FLOW_BYTES}
        for name in {name for number in missing for name in wanted[number][1]}:
            header_share(name)

        def measure(place: int, number: int) -> Flow:
            network, pair, size, runs = wanted[number]
            what = f"{network.name}, {size:,} bytes: {pair[0]} and {pair[1]}"
            on_step(f"{place} of {len(missing)}, {what}")
            flow = _measure(network, pair, size, runs, sites[size])
            write_flow(_cache_key(*wanted[number]), flow.as_json())
            return flow

        with ThreadPoolExecutor(jobs) as pool:
            try:
                flows = pool.map(measure, range(1, len(missing) + 1), missing)
                measured |= dict(zip(missing, flows, strict=True))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    return [measured[number] for number in range(len(wanted))]


def _measure(network: Network, pair: Pair, size: int, runs: int, site: tuple[Path, str]) -> Flow:
    moved: dict[str, list[Bulk]] = {name: [] for name in pair}
    for run in range(runs):
        for name in pair if run % 2 else reversed(pair):
            moved[name].append(
                transfer(
                    network,
                    STACKS_BY_NAME[name],
                    *site,
                    seed=run,
                    bytes_max=size,
                    duration_ms=DURATION_MS,
                )
            )
    tcp, quic = (
        FlowSide.of(
            name,
            moved[name],
            last_byte_ms(network, STACKS_BY_NAME[name], size, header_share(name)),
        )
        for name in pair
    )
    return Flow.of(network, STACKS_BY_NAME[pair[0]].congestion_control, size, tcp, quic)


def _cache_key(network: Network, pair: Pair, size: int, runs: int) -> JsonMapping:
    """Return everything that determines a flow, except build and kernel."""
    return {
        "network": network.stated(),
        "stacks": [asdict(STACKS_BY_NAME[name]) for name in pair],
        "runs": runs,
        "bytes": size,
        "duration_ms": DURATION_MS,
    }
