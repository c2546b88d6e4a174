"""Load on one server: h2load over TCP, our own client over QUIC; one thread each."""

import json
import re
import subprocess

from benchmarks.replay.servers import EXAMPLES, Served
from eyelevel.base.errors import LabError
from eyelevel.lab.binary import find_binary

CONNECTIONS = 10
STREAMS = 10
SECONDS = 3
TIMEOUT_S = 120.0


def h2load_requests(server: Served, version: str) -> float:
    """Return requests a second, every one of them answered with 200."""
    streams = "1" if version == "h1" else str(STREAMS)
    found = _h2load(
        server,
        *(["--h1"] if version == "h1" else []),
        *("-c", str(CONNECTIONS), "-m", streams, "-D", str(SECONDS), "--warm-up-time", "1"),
    )
    return float(_number(r"([\d.]+) req/s", found))


def h2load_bulk(server: Served) -> float:
    """Gbit/s of one object over one connection, its connecting included."""
    found = _h2load(server, "-c", "1", "-m", "1", "-n", "1", "-w", "30", "-W", "30")
    seconds = _number(r"finished in ([\d.]+)(s|ms)", found)
    scale = 1e-3 if re.search(r"finished in [\d.]+ms", found) else 1.0
    return server.site.body_bytes * 8e-9 / (float(seconds) * scale)


def our_client(server: Served) -> float:
    """Return requests a second over h3."""
    found = _run(
        str(EXAMPLES / "load"),
        *(server.address, "h3", str(server.certificate), str(SECONDS), "4", "25"),
        *server.site.urls,
    )
    return float(json.loads(found)["requests_s"])


def our_bulk(server: Served, version: str) -> float:
    """Gbit/s of one object, its connecting left out."""
    body_bytes = server.site.body_bytes
    found = _run(
        *(find_binary(), "bulk", "--to", server.address, "--url", server.site.urls[0]),
        *("--http", version, "--ca", str(server.certificate), "--bytes-max", str(body_bytes)),
        *("--duration-ms", "100000"),
    )
    return body_bytes * 8e-6 / float(json.loads(found)["duration_ms"])


def _h2load(server: Served, *options: str) -> str:
    urls = server.site.urls
    return _run("h2load", "-t", "1", *options, f"--connect-to={server.address}", *urls)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    failed = re.search(r"requests:.* (\d+) failed, (\d+) errored", done.stdout)
    others = re.search(r"status codes: .* ([1-9]\d*) (3xx|4xx|5xx)", done.stdout)
    if done.returncode or (failed and failed.groups() != ("0", "0")) or others:
        raise LabError(f"{command[0]} failed: {done.stderr.strip() or done.stdout[-600:]}")
    return done.stdout


def _number(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise LabError(f"no {pattern} in {text[-600:]!r}")
    return found.group(1)
