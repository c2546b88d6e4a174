"""The bounds of the replay servers, beside nginx in the same interleaved run: `make bench-replay`.

Prints one line a figure: what was asked, and the median, least and largest. Nothing is asserted;
`benchmarks/results` keeps results with their machine. Needs nginx, h2load (nghttp2-client) and
openssl, and a quiet machine: servers and load generator share its cores. One worker a server, one
thread of load.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.replay.load import h2load_bulk, h2load_requests, our_bulk, our_client
from benchmarks.replay.servers import nginx, ours, synthetic_files
from benchmarks.replay.start import first_answer_ms
from benchmarks.replay.think_times import beyond_think_times
from benchmarks.shared.command import HEADING, Figure, measure
from eyelevel.base.errors import LabError

OBJECTS = 100
OBJECT_BYTES = 3000
LARGE_BYTES = 1_000_000_000
ORIGINS = 66
ROUNDS = 5


def beside_nginx(version: str, folder: Path) -> Iterator[Figure]:
    """Yield requests a second of 3 kB objects, as a share of nginx's in the same round."""
    site = synthetic_files(folder, OBJECTS, OBJECT_BYTES)
    rates: dict[str, list[float]] = {"ours": [], "nginx": []}
    with ours(site, version) as own, nginx(site) as other:
        for _ in range(ROUNDS):
            for name, server in (("ours", own), ("nginx", other)):
                rates[name].append(h2load_requests(server, version))
        memory = own.memory_bytes_max() - site.body_bytes
    shares = [a / b for a, b in zip(rates["ours"], rates["nginx"], strict=True)]
    yield Figure(f"3 kB over {version} and TLS, share of nginx's", ">= 0.8", shares)
    for name in rates:
        yield Figure(f"    requests/s of {name}", "", rates[name])
    yield Figure("    memory beside the site, MB", "<= 40", [memory / 1e6])


def over_quic(folder: Path) -> Iterator[Figure]:
    """Yield requests a second of 3 kB objects over HTTP/3."""
    site = synthetic_files(folder, OBJECTS, OBJECT_BYTES)
    with ours(site, "h3") as own:
        rates = [our_client(own) for _ in range(ROUNDS)]
        memory = own.memory_bytes_max() - site.body_bytes
    yield Figure("3 kB over h3, requests/s", ">= 8000", rates)
    yield Figure("    memory beside the site, MB", "<= 40", [memory / 1e6])


def start(folder: Path) -> Iterator[Figure]:
    """Measure the time from the lab's start until the first answer over TLS, with 66 origins."""
    values = first_answer_ms(folder, ORIGINS, 2 * ROUNDS - 1)
    yield Figure(f"first answer over TLS, {ORIGINS} origins, ms", "<= 50", values)


def bulk(folder: Path) -> Iterator[Figure]:
    """A 1 GB object."""
    site = synthetic_files(folder, 1, LARGE_BYTES)
    with ours(site, "h2") as own, nginx(site) as other:
        pairs = [(h2load_bulk(own), h2load_bulk(other)) for _ in range(3)]
        memory = own.memory_bytes_max() - site.body_bytes
    yield Figure("1 GB over h2, Gbit/s", ">= 5", [pair[0] for pair in pairs])
    yield Figure("    nginx", "", [pair[1] for pair in pairs])
    yield Figure("    memory beside the site, MB", "<= 40", [memory / 1e6])
    with ours(site, "h3") as own:
        rates = [our_bulk(own, "h3") for _ in range(3)]
    yield Figure("1 GB over h3, Gbit/s", ">= 1.5", rates)


def in_folder(part: Callable[[Path], Iterator[Figure]]) -> Callable[[], Iterator[Figure]]:
    """The part with a folder of its own, which goes with it."""

    def measured() -> Iterator[Figure]:
        for command, package in (("nginx", "nginx-light"), ("h2load", "nghttp2-client")):
            if not shutil.which(command):
                raise LabError(f"{command} is missing; as root: apt-get install {package}")
        with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
            yield from part(Path(folder))

    return measured


def think() -> Iterator[Figure]:
    """Measure the time from a request to its answer's first byte, beyond the think time."""
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        yield from beyond_think_times(Path(folder), 4 * ROUNDS)


PARTS = {
    "h1": in_folder(partial(beside_nginx, "h1")),
    "h2": in_folder(partial(beside_nginx, "h2")),
    "h3": in_folder(over_quic),
    "start": in_folder(start),
    "bulk": in_folder(bulk),
    "think": think,
}


if __name__ == "__main__":
    sys.exit(measure(__doc__, HEADING, PARTS))
