"""Do equal initial windows leave over equal times? Kernel TCP against our QUIC, interleaved.

`python -m benchmarks.stacks.first_flight [ROUNDS]` prints a line a round trip and control: the
time between the first and the 32nd packet with data after the handshake, as the path's log saw the
servers send them (one clock and one place for both stacks), medians.
"""

import statistics
import tempfile
from pathlib import Path

from benchmarks.shared.command import rounds
from eyelevel.calibration.validation.bulk import bulk_site, transfer
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME

RTTS_MS = (20.0, 40.0, 100.0, 200.0, 400.0)
PAIRS = (("tcp+", "quic"), ("tcp+bbr", "quic+bbr"))
BODY_BYTES = 300_000
DURATION_MS = 20_000


def main(rounds: int) -> None:
    """Measure and print."""
    print("pair                RTT ms   TCP ms  QUIC ms  ratio  flights")
    with tempfile.TemporaryDirectory() as folder:
        site, url = bulk_site(Path(folder), BODY_BYTES)
        for pair in PAIRS:
            for rtt_ms in RTTS_MS:
                print(_line(pair, rtt_ms, rounds, site, url), flush=True)


def _line(pair: tuple[str, str], rtt_ms: float, rounds: int, site: Path, url: str) -> str:
    network = Network("unlimited", 1_000_000_000, 1_000_000_000, rtt_ms, 1000.0)
    spans: dict[str, list[float]] = {name: [] for name in pair}
    packets: dict[str, list[int]] = {name: [] for name in pair}
    for seed in range(rounds):
        for name in pair if seed % 2 else reversed(pair):
            found = transfer(
                network,
                STACKS_BY_NAME[name],
                site,
                url,
                seed=seed,
                bytes_max=BODY_BYTES,
                duration_ms=DURATION_MS,
            )
            packets[name].append(found.first_flight_packets)
            if found.first_flight_span_ms is not None:
                spans[name].append(found.first_flight_span_ms)
    if not all(spans.values()):
        return f"{pair[0]:8}/{pair[1]:9} {rtt_ms:6.0f}   fewer than 32 packets: {packets}"
    tcp, quic = (statistics.median(spans[name]) for name in pair)
    return (
        f"{pair[0]:8}/{pair[1]:9} {rtt_ms:6.0f} {tcp:8.2f} {quic:8.2f}  {quic / tcp:5.2f}  "
        f"{[sorted(packets[name]) for name in pair]}"
    )


if __name__ == "__main__":
    main(rounds(__doc__, 5))
