"""The prober's bounds, measured in the lab: `make bench-probe`.

Servers, path and prober share this machine's processors. Nothing is asserted; `benchmarks/results`
keeps results with their machine. Needs a quiet machine and, for the ratio, openssl.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.probe.overhead import overheads_us
from benchmarks.shared.command import parser_of
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import ProbeTarget, probe_events

RTT_MS = 50.0
PATH = {side: [{"stage": "delay", "delay_ms": RTT_MS / 2}] for side in ("down", "up")}
ADDRESSES = "10.99.0.0/16"
FIRST_ADDRESS = "10.99.0.1"
ADDRESS_COUNT = 4000
"""Enough that one connection an address at a time is no limit."""
IN_FLIGHT = 600
RESOLVER = "127.0.0.1:5353"
PARTS = ("rates", "overhead", "memory")
SERIAL_S = 5


@contextmanager
def surroundings(folder: Path) -> Iterator[tuple[Lab, Path]]:
    """A lab whose servers answer for many addresses, and the file of their authority."""
    zone = {"*": {"a": [FIRST_ADDRESS], "spread": ADDRESS_COUNT}}
    host, _, port = RESOLVER.partition(":")
    with Lab(LabConfig(PATH, 1)) as lab:
        route = ["ip", "route", "add", "local", ADDRESSES, "dev", "lo"]
        subprocess.run([*lab.server_command_prefix, *route], check=True)
        with (
            ProbeTarget.behind(lab, {"names": ["*.bench.lab"]}) as servers,
            ProbeTarget(lab.command_prefix, {"address": host, "port": int(port), "zone": zone}),
        ):
            authority = folder / "ca.pem"
            authority.write_text(servers.authority_pem, encoding="ascii")
            yield lab, authority


def scan(lab: Lab, authority: Path, names: int, what: Mapping[str, Any]) -> dict[str, float]:
    """Handshakes a second between the first and the last row, and how many failed."""
    config: dict[str, Any] = {
        "port": 443,
        "tls": False,
        "quic": False,
        "ipv6": False,
        "https_records": False,
        "www": False,
        "rate_per_s": 100_000.0,
        "in_flight": IN_FLIGHT,
        "timeout_ms": 10_000,
        "resolver": RESOLVER,
        "excluded": [],
        "public_only": False,
        "authority_file": str(authority),
        "vantage": None,
        "user_agent": "eyelevel benchmark",
    } | what
    made = failed = 0
    began = time.monotonic()
    lines = (f"n{number}.bench.lab" for number in range(names))
    for row in probe_events("scan", config, lab.command_prefix, lines):
        is_made = row["tls_handshake_us"] is not None or row["quic_handshake_us"] is not None
        made += is_made
        failed += not is_made
    return {"per_s": made / (time.monotonic() - began), "made": made, "failed": failed}


def peak_mb(lab: Lab, folder: Path, authority: Path, names: int) -> dict[str, Any]:
    """The peak resident memory of the command and of its data plane while it scans."""
    listed, out = folder / "list", folder / "rows.jsonl"
    listed.write_text(
        "".join(f"n{number}.bench.lab\n" for number in range(names)), encoding="ascii"
    )
    command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "scan", str(listed)]
    command += ["--out", str(out), "--resolver", RESOLVER, "--ca", str(authority), "--private"]
    command += ["--only", "tls", "--no-www", "--rate", "100000", "--in-flight", str(IN_FLIGHT)]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peaks: dict[int, tuple[float, int]] = {}
    while process.poll() is None:
        for pid in _family(process.pid):
            peaks[pid] = max(peaks.get(pid, (0.0, 0)), _memory_and_files(pid))
        time.sleep(0.5)
    by_size = sorted((mb for mb, _ in peaks.values()), reverse=True)
    return {
        "sum_mb": sum(by_size),
        "each_mb": by_size,
        "files_max": max(files for _, files in peaks.values()),
        "seconds": time.monotonic() - began,
    }


def _family(pid: int) -> list[int]:
    found = [pid]
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    for child in children:
        found += _family(int(child))
    return found


def _memory_and_files(pid: int) -> tuple[float, int]:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0.0, 0
    match = re.search(r"VmHWM:\s+(\d+) kB", status)
    return (int(match[1]) / 1000 if match else 0.0), files


def openssl_per_s(pairs: int) -> float:
    """Handshakes a second of s_time with s_server over loopback; all pairs together."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=lab"
        key = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
        subprocess.run(["openssl", *made.split(), *key], check=True, capture_output=True)
        servers, clients = [], []
        for pair in range(pairs):
            port = str(14433 + pair)
            server = ["openssl", "s_server", "-quiet", "-accept", port, "-key", key[1]]
            servers.append(subprocess.Popen([*server, "-cert", key[3]]))
        time.sleep(0.5)
        for pair in range(pairs):
            client = ["openssl", "s_time", "-new", "-time", str(SERIAL_S), "-connect"]
            client += [f"127.0.0.1:{14433 + pair}"]
            clients.append(subprocess.Popen(client, stdout=subprocess.PIPE, text=True))
        said = [client.communicate(timeout=60)[0] for client in clients]
        for server in servers:
            server.terminate()
            server.wait()
    counts = [re.search(r"(\d+) connections in (\d+) real seconds", text) for text in said]
    return sum(int(found[1]) / int(found[2]) for found in counts if found)


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--names", type=int, default=20_000, help="of each rate")
    parser.add_argument("--memory-names", type=int, default=100_000)
    parser.add_argument("--handshakes", type=int, default=1_600, help="of each overhead")
    parser.add_argument("parts", nargs="*", default=PARTS, help=", ".join(PARTS))
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as name, surroundings(Path(name)) as (lab, authority):
        if "rates" in arguments.parts:
            rates(lab, authority, arguments.names)
        if "overhead" in arguments.parts:
            for protocol in ("tcp", "tls1.3", "quic"):
                over = overheads_us(lab, authority, protocol, arguments.handshakes)
                print(f"{protocol} over the kernel's stamps (asked 50, 200 us): {over}", flush=True)
        if "memory" in arguments.parts:
            peak = peak_mb(lab, Path(name), authority, arguments.memory_names)
            print(f"{arguments.memory_names} names (asked at most 100 MB): {peak}", flush=True)


def rates(lab: Lab, authority: Path, names: int) -> None:
    """Handshakes a second, and their ratio to OpenSSL's."""
    tls = scan(lab, authority, names, {"tls": True, "user_agent": None})
    print(f"TLS 1.3 handshakes a second (asked 1500): {tls}", flush=True)
    quic = scan(lab, authority, names // 2, {"quic": True})
    print(f"QUIC handshakes a second (asked 800): {quic}", flush=True)
    requests = scan(lab, authority, names // 2, {"tls": True})
    print(f"TLS 1.3 with a request each, as scans are: {requests}", flush=True)
    for pairs in (1, 2):
        per_s = openssl_per_s(pairs)
        ratio = tls["per_s"] / per_s
        print(f"openssl s_time, {pairs} at once: {per_s:.0f} a second; ours {ratio:.2f} of it")


if __name__ == "__main__":
    main()
