"""Check how a connection began: its initial window, its pacing, and its first requests."""

from collections.abc import Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.stacks import Stack

PACKETS_AT_ONCE = 10
"""The kernel does not pace a connection's first ten segments (net/ipv4/tcp_output.c), nor do we."""
TCP_FLIGHT_SHARE_SEEN = 0.5
PACED_FLIGHT_RTT_SHARE_MIN = 0.15
"""The least duration of a paced first flight, in round trips. One of 32 packets takes about a third
of a round trip, as its first ten packets leave at once and the rest at twice the window per round
trip; less than half of that is not paced."""

SYN_ACKS_AGAIN = 2
"""The repeated SYN-ACKs after which Linux may lose its window; Linux 6.18 was measured to lose it
from the third on."""


def wrong_first_flight(stack: Stack, in_force: JsonMapping) -> str:
    """Return a first flight that should have been paced and was not, as a sentence; else "".

    Only first flights that filled the initial window before any acknowledgement are judged.
    """
    packets, span_ms = in_force["first_flight_packets"], in_force["first_flight_ms"]
    window = stack.initial_window_packets
    if packets is None or span_ms is None or not stack.pacing:
        return ""
    # Over TCP short segments count, too, so half a window of data is enough.
    filled = window if stack.over_quic else window * TCP_FLIGHT_SHARE_SEEN
    if packets < filled or stack.congestion_control != "cubic" or window <= PACKETS_AT_ONCE:
        return ""
    paced_share = (packets - PACKETS_AT_ONCE) / (window - PACKETS_AT_ONCE)
    paced_ms = PACED_FLIGHT_RTT_SHARE_MIN * (in_force["rtt_ms_min"] or 0.0)
    if span_ms < paced_ms * min(1.0, paced_share):
        return f"{packets} packets left within {span_ms:.1f} ms though they should be paced"
    return ""


def has_reduced_window(stack: Stack, in_force: JsonMapping) -> bool:
    """Return whether the network reduced TCP's initial window to one packet.

    This happens if a SYN-ACK had to be sent again (RFC 5681, section 3.1), in Linux more than once.
    It is how the stack behaves on such a path, and no failure of the instrument.
    """
    return not stack.over_quic and has_lost_window(in_force)


def has_lost_window(in_force: JsonMapping) -> bool:
    """Return whether a TCP connection lost its initial window to a repeated SYN-ACK."""
    again = in_force.get("syn_ack_retransmitted_packets") or 0
    return in_force["initial_window_packets"] == 1 and again >= SYN_ACKS_AGAIN


def came_with_handshake(connection: JsonMapping, requests: Sequence[JsonMapping]) -> bool:
    """Return whether all requests were sent by the end of the handshake.

    They arrived less than a round trip after it. False if the servers do not report it.
    """
    ready_ns, rtt_ms = connection["ready_at_ns"], connection["in_force"]["rtt_ms_min"]
    if ready_ns is None or rtt_ms is None:
        return False
    answered_ms = ((each["at_ns"] - ready_ns) / 1e6 for each in requests)
    held_ms = (each["server_us"] / 1e3 + each.get("think_ms", 0.0) for each in requests)
    return all(a - h < rtt_ms for a, h in zip(answered_ms, held_ms, strict=True))
