"""Protocol stacks: one table of presets, and how a stack becomes the lab's object."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from eyelevel.networks import Network

HttpVersion = Literal["h1", "h2", "h3"]
CongestionControl = Literal["cubic", "bbr", "reno"]

# Small records reach the page sooner on slow links: 16 kB take 280 ms at 0.468 Mbit/s before their
# first byte can be read.
TLS_RECORD_BYTES = 4096
# The largest UDP payload that fits 1500-byte packets over IPv4 and IPv6, as full TCP segments do.
QUIC_PACKET_BYTES = 1452
# Wolsing et al. 2019, table 1: twice the bandwidth-delay product; 4 MB where that is less.
TUNED_BUFFER_BDP_FACTOR = 2.0
TUNED_BUFFER_BYTES_MIN = 4 * 2**20


@dataclass(frozen=True)
class Stack:
    """One protocol stack with its tuning.

    `buffer_bytes_max`: the largest TCP buffer of both ends. When it is None it follows from
    `buffer_bdp_factor` (times the path's bandwidth-delay product, at least `buffer_bytes_min`);
    when that is None too, it is the kernel's. `preset`: the table's entry that it came from.
    """

    name: str
    preset: str
    http_version: HttpVersion
    congestion_control: CongestionControl
    initial_window_packets: int
    pacing: bool
    slow_start_after_idle: bool
    buffer_bytes_max: int | None = None
    buffer_bdp_factor: float | None = None
    buffer_bytes_min: int = TUNED_BUFFER_BYTES_MIN
    tls_record_bytes: int = TLS_RECORD_BYTES
    quic_packet_bytes: int = QUIC_PACKET_BYTES


def _stock_tcp(name: str, http_version: HttpVersion) -> Stack:
    return Stack(name, name, http_version, "cubic", 10, False, True)


def _tuned(name: str, http_version: HttpVersion, congestion_control: CongestionControl) -> Stack:
    factor = None if http_version == "h3" else TUNED_BUFFER_BDP_FACTOR
    return Stack(name, name, http_version, congestion_control, 32, True, False, None, factor)


STACKS: tuple[Stack, ...] = (
    _stock_tcp("http1", "h1"),
    _stock_tcp("tcp", "h2"),
    _tuned("tcp+", "h2", "cubic"),
    _tuned("tcp+bbr", "h2", "bbr"),
    _tuned("quic", "h3", "cubic"),
    _tuned("quic+bbr", "h3", "bbr"),
)

STACKS_BY_NAME: dict[str, Stack] = {stack.name: stack for stack in STACKS}


def stack_settings(stack: Stack, network: Network) -> dict[str, Any]:
    """The lab's `stack` without its name: what is in force on this network, and what is hashed."""
    return {
        "http_version": stack.http_version,
        "congestion_control": stack.congestion_control,
        "initial_window_packets": stack.initial_window_packets,
        "pacing": stack.pacing,
        "slow_start_after_idle": stack.slow_start_after_idle,
        "buffer_bytes_max": _buffer_bytes_max(stack, network),
        "tls_record_bytes": stack.tls_record_bytes,
        "quic_packet_bytes": stack.quic_packet_bytes,
    }


def lab_stack(stack: Stack, network: Network) -> dict[str, Any]:
    """The lab's `stack` object (spec/lab-events.md) on this network."""
    return {"name": stack.name} | stack_settings(stack, network)


def _buffer_bytes_max(stack: Stack, network: Network) -> int | None:
    if stack.buffer_bytes_max is not None or stack.buffer_bdp_factor is None:
        return stack.buffer_bytes_max
    wanted = math.ceil(stack.buffer_bdp_factor * network.bandwidth_delay_product_bytes())
    return max(wanted, stack.buffer_bytes_min)
