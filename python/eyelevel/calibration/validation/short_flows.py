"""Flows of a page's size over the kernel's TCP and our QUIC: the time of the last byte.

They are like the yardstick's bulk data (`stacks`), but so short that only the start matters:
initial window, pacing, slow start, headers. Each time is accompanied by the theoretical one.

Compute when a short flow's last byte arrives by theory.

Only window, pacing, rate and distance limit the flow.
"""

import math
import statistics
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.validation.bulk import Bulk, bulk_site, transfer
from eyelevel.calibration.validation.stacks import (
    Pair,
    header_share,
    ratio_of,
    read_flow,
    write_flow,
)
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack
from eyelevel.store.disk import temporary_folder

UNPACED_PACKETS = 10
"""The packets that the kernel sends unpaced at a connection's start, including the handshake's."""
HANDSHAKE_PACKETS = 2
"""The packets of the server's handshake: ServerHello, certificate, Finished, 2.4 to 2.9 kB."""
SLOW_START_PACING = 2.0
"""The windows per round trip at which packets are paced in slow start (`tcp_pacing_ss_ratio`)."""
REQUEST_BYTES = {"h1": 220, "h2": 490, "h3": 405}
"""The bytes on the wire from the handshake's end to the request, from paths' logs: the client's
Finished, its settings and the request."""
INITIAL_ACK_BYTES = 1228
SERVERS_REST_BYTES = 1178
"""The bytes of the server's handshake after its first packet. QUIC's client acknowledges that
packet in a datagram that is padded to 1200 bytes (RFC 9000, section 14.1). The request waits for it
if it takes longer on its way up than the rest of the server's handshake on its way down."""
PACKET_WIRE_BYTES = {"h1": 1500, "h2": 1500, "h3": 1480}
"""The bytes of a full packet with its IP header: TCP's fills the path's 1500, QUIC's has 1452 bytes
of UDP."""


def last_byte_ms(network: Network, stack: Stack, body_bytes: int, body_share: float) -> float:
    """Return the time in ms from the request to the body's last byte at the client, without loss.

    `body_share`: the body's share of the bytes on the wire. The window begins as the stack's and
    grows by a packet for each that is acknowledged (slow start). Packets leave at two windows per
    round trip once the unpaced ones are gone (all at once if the stack does not pace), wait for the
    link, and are acknowledged at once.
    """
    packet_bytes = PACKET_WIRE_BYTES[stack.http_version]
    one_way_ms = network.rtt_ms_min / 2
    wire_bytes = body_bytes / body_share
    acknowledged_ms: deque[float] = deque()
    window, in_flight = stack.initial_window_packets, 0
    now_ms = one_way_ms + _request_ms(stack, network)
    paced_from = UNPACED_PACKETS - HANDSHAKE_PACKETS
    due_ms = link_free_ms = now_ms
    packets = math.ceil(wire_bytes / packet_bytes)
    for number in range(packets):
        while acknowledged_ms and (acknowledged_ms[0] <= now_ms or in_flight >= window):
            now_ms = max(now_ms, acknowledged_ms.popleft())
            window, in_flight = window + 1, in_flight - 1
        if stack.pacing and number >= paced_from:
            now_ms = max(now_ms, due_ms)
        if number >= paced_from - 1:
            due_ms = now_ms + network.rtt_ms_min / (SLOW_START_PACING * window)
        size = min(packet_bytes, wire_bytes - number * packet_bytes)
        link_free_ms = max(link_free_ms, now_ms) + _transmission_ms(size, network.rate_down_bit_s)
        acknowledged_ms.append(link_free_ms + 2 * one_way_ms)
        in_flight += 1
    return link_free_ms + one_way_ms


def _request_ms(stack: Stack, network: Network) -> float:
    own_ms = _transmission_ms(REQUEST_BYTES[stack.http_version], network.rate_up_bit_s)
    if not stack.over_quic:
        return own_ms
    before_ms = _transmission_ms(INITIAL_ACK_BYTES, network.rate_up_bit_s)
    meanwhile_ms = _transmission_ms(SERVERS_REST_BYTES, network.rate_down_bit_s)
    return own_ms + max(0.0, before_ms - meanwhile_ms)


def _transmission_ms(size: float, rate_bit_s: int) -> float:
    return size * 8e3 / rate_bit_s if rate_bit_s else 0.0


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
