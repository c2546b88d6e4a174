"""Compute when a short flow's last byte arrives by theory.

Only window, pacing, rate and distance limit the flow.
"""

import math
from collections import deque

from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import Stack

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
