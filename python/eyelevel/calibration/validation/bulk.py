"""Make one bulk transfer through a lab: a stack's servers, our own client, the path's log."""

import json
import random
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eyelevel.analysis.pathlog import DirectionLog, read_log, summarise
from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.lab.binary import find_binary
from eyelevel.lab.client import Lab, LabConfig, LabSummary, find_lost_outside
from eyelevel.load.external_server import start_served_lab
from eyelevel.load.host import tree_cpu_s
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.stacks import Stack
from eyelevel.store.disk import temporary_folder

HOST = "bulk.example.test"
LATE_URL = f"https://{HOST}/late"
GRACE_S = 30.0
"""The additional time limit for connecting over the slowest and most lossy path."""
DATA_PACKET_BYTES_MIN = 81
"""The least bytes of a packet with data. A TCP segment without data has 52 to 80 bytes over IPv4, a
QUIC packet with only acknowledgements about 70; the smallest with data here, a session ticket's,
83."""
FLIGHT_GAP_RTT_SHARE = 0.4
"""Flights are separated by gaps of this share of the round trip; paced packets of a first window
are far closer."""
FLIGHT_PACKETS_MIN = 8
"""The fewest packets of a first flight of bulk data; a handshake has fewer at once."""


@dataclass(frozen=True)
class Bulk:
    """The results of one transfer. Rates count the body's bytes.

    `wire_bytes` left the path's downlink, headers included. `queue_delay_ms_p95` includes the
    packet's own transmission. `lateness_us_p99`: the larger of that of packets down when they were
    read and when they left. `lost_outside_packets`: outside of the path, at either end.
    `first_flight_span_ms`: from the first to the 32nd packet with data that the server sent after
    the handshake; None if it sent fewer.
    """

    body_bytes: int
    duration_ms: float
    connect_ms: float
    goodput_bit_s: float
    complete: bool
    wire_bytes: int
    sent_packets: int
    retransmitted_packets: int
    queue_delay_ms_p50: float | None
    queue_delay_ms_p95: float | None
    lateness_us_p99: float | None
    lost_outside_packets: int
    first_flight_packets: int
    first_flight_span_ms: float | None
    server_cpu_s: float
    in_force: JsonObject


def bulk_site(
    folder: Path, body_bytes: int, scheme: str = "https", *, late_bytes: int = 0
) -> tuple[Path, str]:
    """Return a recording of one body that does not compress, and its URL.

    With `late_bytes` it also has `LATE_URL`, a body of that size.
    """
    url = f"{scheme}://{HOST}/object"
    bodies = [(url, body_bytes), *([(LATE_URL, late_bytes)] if late_bytes else [])]
    path = folder / f"bulk-{scheme}-{body_bytes}-{late_bytes}.warc"
    path.write_bytes(
        b"".join(_exchange(number, *body) for number, body in enumerate(bodies, start=1))
    )
    return path, url


def _exchange(number: int, url: str, body_bytes: int) -> bytes:
    body = random.Random(number).randbytes(body_bytes)
    head = (
        "HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\n"
        f"content-length: {body_bytes}\r\n\r\n"
    ).encode()
    fields = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:{number:032}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(head) + body_bytes}\r\n\r\n"
    ).encode()
    return fields + head + body + b"\r\n\r\n"


def transfer(
    network: Network,
    stack: Stack,
    site: Path,
    url: str,
    *,
    seed: int,
    bytes_max: int,
    duration_ms: int,
    warm_up: bool = False,
    logs: Path | None = None,
) -> Bulk:
    """Transfer `bytes_max` of the body, or as much as comes in `duration_ms`.

    The path's logs are stored in the folder `logs`, if one is given. Raises LabError if lab or
    transfer failed.
    """
    with temporary_folder("bulk") as own:
        folder = logs or own
        answer, summary = transfer_with_report(
            lab_path(network),
            # As on a first visit: no tickets, unless the stack sets them.
            {"session_tickets": False} | lab_stack(stack, network),
            site,
            url,
            seed=seed,
            bytes_max=bytes_max,
            duration_ms=duration_ms,
            warm_up=warm_up,
            logs=folder,
        )
        log = read_log((folder / "down.log").read_bytes(), "down.log")
    return _bulk(answer, log, summary, network.rtt_ms_min)


def transfer_with_report(
    path: JsonMapping,
    stack: JsonMapping,
    site: Path,
    url: str,
    *,
    seed: int,
    bytes_max: int,
    duration_ms: int,
    logs: Path,
    warm_up: bool = False,
    late: tuple[str, int] | None = None,
    served_by: Stack | None = None,
) -> tuple[JsonObject, LabSummary]:
    """Transfer over any path and stack, and return the client's report and the lab's summary.

    The path's logs are in the folder `logs`. `late`: the URL that is requested urgently after this
    many bytes of the body. `served_by`: the stack whose external server responds instead of ours;
    it reports no connections, while a summary of our servers has at least one. The report has
    `server_cpu_s` and `client_cpu_s` as well, the processor time of either end.
    """
    config = LabConfig(path, seed, str(site), stack, log=str(logs))
    serving = start_served_lab(served_by, str(site), config) if served_by else Lab(config)
    with serving as lab:
        server = lab.external_server_pid
        before_s = tree_cpu_s(server) if server else 0.0
        answer = fetch(lab, stack, url, bytes_max, duration_ms, warm_up=warm_up, late=late)
        spent_s = tree_cpu_s(server) - before_s if server else None
        summary = lab.stop()
    answer["server_cpu_s"] = summary.server_cpu_s if spent_s is None else spent_s
    if not summary.connections and served_by is None:
        raise LabError(
            f"a transfer over {stack['name']}: the servers reported no connection; run it again"
        )
    return answer, summary


def fetch(
    lab: Lab,
    stack: JsonMapping,
    url: str,
    bytes_max: int,
    duration_ms: int,
    *,
    warm_up: bool = False,
    late: tuple[str, int] | None = None,
) -> JsonObject:
    """Transfer in a running lab with the client's settings of `stack`; return the client's report.

    `late` is as in `transfer_with_report`. Raises LabError if it failed.
    """
    with temporary_folder("bulk") as own:
        authority = own / "authority.pem"
        authority.write_text(lab.ready.ca_certificate or "", encoding="ascii")
        port = 443 if url.startswith("https:") else 80
        address = next(o["address"] for o in lab.ready.origins if o["host"] == HOST)
        tls_version = stack["tls_version"]
        command = [
            *(*lab.command_prefix, find_binary(), "bulk"),
            *("--to", f"[{address}]:{port}" if ":" in address else f"{address}:{port}"),
            *("--url", url, "--http", stack["http_version"], "--ca", str(authority)),
            *("--ecn", stack["ecn"]),
            *("--tls", tls_version if tls_version != "none" else "1.3"),
            *("--bytes-max", str(bytes_max), "--duration-ms", str(duration_ms)),
            *(["--warm-up"] if warm_up else []),
            *(["--late-url", late[0], "--late-after-bytes", str(late[1])] if late else []),
        ]
        return _run(command, duration_ms / 1e3 + GRACE_S)


def _run(command: list[str], timeout_s: float) -> JsonObject:
    """Run the client, and return its report with its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(
            f"a transfer took longer than {timeout_s:g} s; run it again when the machine is quiet"
        ) from error
    if done.returncode:
        raise LabError(f"a transfer failed, run it again: {done.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer: JsonObject = json.loads(done.stdout)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**answer, "client_cpu_s": cpu_s}


def _bulk(
    report: JsonObject,
    log: DirectionLog,
    summary: LabSummary,
    rtt_ms: float,
) -> Bulk:
    assert summary.path is not None
    in_force = summary.connections[-1]["in_force"]
    read_late_us = summary.path["down"]["arrival"]["lateness_us_p99"]
    seconds = report["duration_ms"] / 1e3
    queue = summarise(log)
    packets, span_ms = first_flight(log, rtt_ms)
    return Bulk(
        body_bytes=report["body_bytes"],
        duration_ms=report["duration_ms"],
        connect_ms=report["connect_ms"],
        goodput_bit_s=report["body_bytes"] * 8 / seconds if seconds else 0.0,
        complete=report["complete"],
        wire_bytes=int(log.departed_bytes.sum()),
        sent_packets=in_force["sent_packets"] or 0,
        retransmitted_packets=in_force["retransmitted_packets"] or 0,
        queue_delay_ms_p50=queue.queue_delay_ms_p50,
        queue_delay_ms_p95=queue.queue_delay_ms_p95,
        lateness_us_p99=max(
            (us for us in (queue.lateness_us_p99, read_late_us) if us is not None), default=None
        ),
        lost_outside_packets=sum(count for _, _, count in find_lost_outside(summary.path)),
        first_flight_packets=packets,
        first_flight_span_ms=span_ms,
        server_cpu_s=summary.server_cpu_s or 0.0,
        in_force=in_force,
    )


def first_flight(log: DirectionLog, rtt_ms: float, packets: int = 32) -> tuple[int, float | None]:
    """Return the data packets of the first flight after the handshake, and a time.

    The packets are counted at their arrival at the path; the time is from the first to the
    `packets`-th, None if there are fewer.
    """
    data = log.arrived_s[log.arrived_bytes >= DATA_PACKET_BYTES_MIN]
    gaps = np.flatnonzero(np.diff(data) * 1e3 > FLIGHT_GAP_RTT_SHARE * rtt_ms) + 1
    for flight in np.split(data, gaps):
        if len(flight) >= FLIGHT_PACKETS_MIN:
            if len(flight) < packets:
                return len(flight), None
            return len(flight), float(flight[packets - 1] - flight[0]) * 1e3
    return 0, None
