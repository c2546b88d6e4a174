"""The yardstick: the same bulk data over the kernel's TCP and over our QUIC.

Both stacks of a pair have the same congestion control, window and pacing, and alternate; a cell is
one network and one pair. The overhead of headers differs by protocol and is corrected for: a
stack's share of body in the bytes on the wire is measured once, without loss.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from threading import Event

from eyelevel.base.errors import LabError, NetworkError
from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.validation.bulk import Bulk, bulk_site, transfer
from eyelevel.calibration.validation.stack_cache import read_cell, write_cell
from eyelevel.calibration.validation.stack_cells import LOSSES_MIN, Cell, Side
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME, get_network, why_none
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.store.disk.folders import temporary_folder

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
        if run >= runs and not (lossy and runs >= RUNS and min(pooled) < LOSSES_MIN):
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
