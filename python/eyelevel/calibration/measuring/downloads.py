"""Measure downloads by our own client over several stacks: rate, and processor time of both ends.

Stacks alternate within each size, so that disturbances affect them equally. A starved transfer is
repeated.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonObject
from eyelevel.calibration.measuring.runs import INCOMPLETE, Recordings, RunError, transfer
from eyelevel.load.quiet_host import HostWait
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import Stack
from eyelevel.store.disk import temporary_folder

SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
NETWORK = Network("bulk", 100_000_000, 100_000_000, 40.0, 100.0)
"""A network on which 100 MB take eight seconds, with a queue of two and a half round trips."""
WAIT_S = 5.0
"""How long a transfer waits for a quiet machine."""
TRIES = 4
"""The most attempts of one transfer."""


@dataclass(frozen=True)
class Download:
    """One transfer. `duration_ms` is from the request to the last byte."""

    stack: str
    body_bytes: int
    connect_ms: float
    duration_ms: float
    server_cpu_s: float
    client_cpu_s: float


@dataclass(frozen=True)
class Downloads:
    """The transfers of one size over one stack: medians, and the range of the rate."""

    stack: str
    body_bytes: int
    runs: int
    mbit_s: float
    mbit_s_min: float
    mbit_s_max: float
    connect_ms: float
    server_ns_per_byte: float
    client_ns_per_byte: float

    def as_json(self) -> JsonObject:
        """Return the JSON of `eyelevel server bulk --json`."""
        return dict(self.__dict__)


def measure_downloads(
    stacks: Sequence[Stack],
    sizes: Sequence[int],
    runs: int,
    on_step: Callable[[int, int, str, int], None],
    network: Network = NETWORK,
) -> list[Download]:
    """Return `runs` transfers of each size over each stack, fewer if the machine starved them.

    `on_step` is called before each with its number, the number of all, its stack and size. Raises
    LabError if a server does not send a body whole.
    """
    downloads: list[Download] = []
    number, total = 0, len(sizes) * runs * len(stacks)
    with temporary_folder("downloads") as folder:
        recordings = Recordings.write(folder, set(sizes))
        for size in sizes:
            for run in range(runs):
                turned = [*stacks[run % len(stacks) :], *stacks[: run % len(stacks)]]
                for stack in turned:
                    number += 1
                    on_step(number, total, stack.name, size)
                    HostWait(limit_s=WAIT_S).wait()
                    found = _download(network, stack, recordings, size, number)
                    downloads += [found] if found else []
    return downloads


def _download(
    network: Network, stack: Stack, recordings: Recordings, size: int, seed: int
) -> Download | None:
    for _ in range(TRIES):
        try:
            report, _, _ = transfer(network, stack, recordings, size, seed)
        except RunError:
            continue
        if not report["complete"]:
            raise LabError(INCOMPLETE.format(stack.name, size))
        return Download(
            stack.name,
            size,
            report["connect_ms"],
            report["duration_ms"],
            report["server_cpu_s"],
            report["client_cpu_s"],
        )
    return None


def summarise_downloads(downloads: Sequence[Download]) -> list[Downloads]:
    """Return a row for each size and stack, by size; stacks are in the order of their first run."""
    groups: dict[tuple[int, str], list[Download]] = {}
    for each in downloads:
        groups.setdefault((each.body_bytes, each.stack), []).append(each)
    rows = []
    order = list(dict.fromkeys(each.stack for each in downloads))
    for (size, stack), group in sorted(
        groups.items(), key=lambda item: (item[0][0], order.index(item[0][1]))
    ):
        rates = [size * 8 / each.duration_ms / 1e3 for each in group]

        def median_ns(name: str, group: Sequence[Download] = group, size: int = size) -> float:
            return float(statistics.median(getattr(each, name) for each in group)) * 1e9 / size

        rows.append(
            Downloads(
                stack,
                size,
                len(group),
                statistics.median(rates),
                min(rates),
                max(rates),
                statistics.median(each.connect_ms for each in group),
                median_ns("server_cpu_s"),
                median_ns("client_cpu_s"),
            )
        )
    return rows
