"""Measure what an urgent request costs that arrives during an image's transfer, over TCP and QUIC,
interleaved.

`python -m benchmarks.stacks.late_requests [ROUNDS]` prints a line a network and stack: bytes that
left the servers between the request's coming and its answer's first byte, the time from asking to
that byte, and the most that the response scheduler had let through and not sent; medians of the
rounds, the last the most. The last two stacks let four times as much through.
"""

import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.shared.command import rounds
from eyelevel.analysis.pathlog import read_arrivals
from eyelevel.calibration.level.page_values import late_values, read_arrival_ns
from eyelevel.calibration.validation.bulk import LATE_URL, bulk_site, transfer_with_report
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

NETWORKS = ("da2gc", "mss", "3g", "lte")
STACKS = (
    STACKS_BY_NAME["tcp+"],
    STACKS_BY_NAME["quic"],
    *(
        replace(STACKS_BY_NAME[name], name=f"{name}, 64 kB", unsent_bytes_max=65_536)
        for name in ("tcp+", "quic")
    ),
)
BODY_BYTES, LATE_BYTES = 600_000, 2_000
LATE_AFTER_BYTES, STEP_BYTES = 60_000, 1_777
DURATION_MS = 20_000


def main(rounds: int) -> None:
    """Measure and print."""
    print("network   Mbit/s  RTT ms  stack           bytes    ms  most unsent")
    with tempfile.TemporaryDirectory() as folder:
        site, url = bulk_site(Path(folder), BODY_BYTES, late_bytes=LATE_BYTES)
        for name in NETWORKS:
            told: dict[str, list[tuple[float, float, int]]] = {each.name: [] for each in STACKS}
            for number in range(rounds):
                for stack in STACKS:
                    told[stack.name].append(_once(name, stack, site, url, number))
            for stack_name, found in told.items():
                print(_line(name, stack_name, found), flush=True)


def _once(name: str, stack: Stack, site: Path, url: str, number: int) -> tuple[float, float, int]:
    network = replace(NETWORKS_BY_NAME[name], loss_down=0.0, loss_up=0.0, queue_ms=2000.0)
    with tempfile.TemporaryDirectory() as text:
        told, summary = transfer_with_report(
            lab_path(network),
            lab_stack(stack, network),
            site,
            url,
            seed=number,
            bytes_max=BODY_BYTES,
            duration_ms=DURATION_MS,
            logs=Path(text),
            late=(LATE_URL, LATE_AFTER_BYTES + number * STEP_BYTES),
        )
        down = read_arrivals((Path(text) / "down.log").read_bytes(), "down.log")
    request = next(each for each in summary.requests if each["url"] == LATE_URL)
    values = late_values(told["late"], read_arrival_ns(request), down)
    most = max(each["in_force"]["unsent_bytes_max"] for each in summary.connections)
    return values["late_bytes"], values["late_ms"], most


def _line(name: str, stack: str, found: list[tuple[float, float, int]]) -> str:
    network = NETWORKS_BY_NAME[name]
    sizes, times, most = zip(*found, strict=True)
    return (
        f"{name:8} {network.rate_down_bit_s / 1e6:7.3f} {network.rtt_ms_min:7.0f}  {stack:12} "
        f"{statistics.median(sizes):8.0f} {statistics.median(times):5.0f} {max(most):12}"
    )


if __name__ == "__main__":
    main(rounds(__doc__, 5))
