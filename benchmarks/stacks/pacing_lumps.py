"""Measure how much leaves at once where packets are paced fast: kernel TCP against our QUIC,
interleaved.

`python -m benchmarks.stacks.pacing_lumps [ROUNDS]` prints a line a rate and stack. A send is what
came to the path within `TOGETHER_US` of the packet before it; its bytes and the time to the next
one are told as median, 90th percentile and largest, over the transfer's first `START_RTTS` round
trips after the first packet with data, while the window grows and acknowledgements do not yet clock
it. CPU is the servers' thread's, in seconds a gigabyte of body.
"""

import statistics
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.shared.command import machine, rounds
from eyelevel.analysis.pathlog import read_log
from eyelevel.base.errors import LabError
from eyelevel.calibration.validation.bulk import DATA_PACKET_BYTES_MIN, bulk_site, transfer
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME

RATES_MBIT_S = (100, 250, 1000)
STACKS = ("tcp+", "quic", "tcp+bbr", "quic+bbr")
RTT_MS = 40.0
QUEUE_MS = 100.0
BODY_BYTES = 40_000_000
DURATION_MS = 20_000
TOGETHER_US = 20.0
START_RTTS = 6.0


def main(rounds: int) -> None:
    """Measure and print."""
    print(machine())
    print("rate  stack     sends' bytes p50, p90, max   gaps us p50, p90, max   Mbit/s  CPU s/GB")
    with tempfile.TemporaryDirectory() as folder:
        site, url = bulk_site(Path(folder), BODY_BYTES)
        for rate in RATES_MBIT_S:
            found: dict[str, list[tuple[float, ...]]] = {name: [] for name in STACKS}
            for seed in range(rounds):
                for name in STACKS:
                    try:
                        found[name].append(_one(name, rate, seed, site, url, Path(folder)))
                    except LabError as error:
                        print(f"{rate:4}  {name:9} {error}"[:150])
            for name, rows in found.items():
                if not rows:
                    continue
                values = [statistics.median(column) for column in zip(*rows, strict=True)]
                sizes, gaps = (" ".join(f"{e:7.0f}" for e in values[n : n + 3]) for n in (0, 3))
                rates = f"{values[6]:7.1f} {values[7]:7.2f}"
                print(f"{rate:4}  {name:9} {sizes}     {gaps}  {rates}", flush=True)


def _one(name: str, rate: int, seed: int, site: Path, url: str, folder: Path) -> tuple[float, ...]:
    network = Network("fast", rate * 10**6, rate * 10**6, RTT_MS, QUEUE_MS)
    moved = transfer(
        network,
        STACKS_BY_NAME[name],
        site,
        url,
        seed=seed,
        bytes_max=BODY_BYTES,
        duration_ms=DURATION_MS,
        logs=folder,
    )
    log = read_log((folder / "down.log").read_bytes(), "down.log")
    data = log.arrived_bytes >= DATA_PACKET_BYTES_MIN
    at_us, sizes = log.arrived_s[data] * 1e6, log.arrived_bytes[data]
    # The handshake is over after two round trips, and what it sent with it.
    first = np.searchsorted(at_us, at_us[0] + 2 * RTT_MS * 1e3)
    last = np.searchsorted(at_us, at_us[first] + START_RTTS * RTT_MS * 1e3)
    at_us, sizes = at_us[first:last], sizes[first:last]
    starts = np.flatnonzero(np.diff(at_us, prepend=-np.inf) > TOGETHER_US)
    sent = np.add.reduceat(sizes, starts)
    gaps = np.diff(at_us[starts])
    gaps = gaps[gaps < RTT_MS * 1e3 / 4]
    shown = [(*np.percentile(each, (50, 90)), each.max()) for each in (sent, gaps)]
    cpu = moved.server_cpu_s / (moved.body_bytes / 1e9)
    return (*shown[0], *shown[1], moved.goodput_bit_s / 1e6, cpu)


if __name__ == "__main__":
    main(rounds(__doc__, 3))
