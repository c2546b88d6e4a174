"""Check that each connection used the settings of the stack: pure.

What a connection reported of itself is compared with the plan, then how it began (its initial
window, its pace, its first requests), the receive window that the client's TCP first offered, the
sizes of header tables, and the ECN bits of packets as they reached the path.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.load.coding import Observed
from eyelevel.plan.in_force import tcp_controller
from eyelevel.plan.stacks import Stack

CLASSICAL = "X25519"
HYBRID = "X25519MLKEM768"
"""The group of `key_exchange = "hybrid"`, of Chromium's key shares; in TLS 1.3 alone."""
CIPHERS = {
    "1.2": "TLS_ECDHE_{key}_WITH_AES_128_GCM_SHA256",
    "1.3": "TLS13_AES_128_GCM_SHA256",
}
"""The only cipher suite of our servers, by TLS version and the certificate's key."""


def wrong_stack(load: Observed) -> str:
    """Return a setting in force that differs from the stack, as a sentence; empty if none does."""
    stack = load.stack
    wanted = _derive_expected_in_force(stack)
    served = defaultdict(list)
    for request in load.requests:
        served[request["connection"]].append(request)
    is_taken = _takes_tables(
        each for each in load.connections if each["protocol"] == stack.protocol
    )
    for connection in load.connections:
        if (how := _describe_beside_quic(stack, connection)) is not None:
            if reason := _wrong_over_tcp(stack, connection["in_force"]):
                return f"connection {connection['connection']}, {how}: {reason}"
            continue
        if connection["protocol"] != stack.protocol:
            continue
        which, in_force = f"connection {connection['connection']}", connection["in_force"]
        for name, value in wanted.items():
            seen = in_force.get(name)
            if name == "initial_window_packets" and has_reduced_window(stack, in_force):
                continue
            if seen is not None and seen != value:
                return f"{which}: {name} was {seen}, not {value}"
        if _knows_pacing(stack):
            paced = in_force["pacing_rate_bytes_s_max"] is not None
            if paced != stack.pacing:
                return f"{which} was {'paced' if paced else 'not paced'}"
        if reason := _wrong_first_flight(stack, in_force):
            return f"{which}: {reason}"
        if reason := wrong_first_window(stack, in_force, load.kernel):
            return f"{which}: {reason}"
        requested = served[connection["connection"]]
        if requested and (
            reason := _wrong_header_tables(stack, connection, requested, is_taken=is_taken)
        ):
            return f"{which}: {reason}"
    if reason := wrong_ecn(stack, load.connections, load.requests, load.path):
        return f"ecn is {stack.ecn}, but {reason}"
    return _wrong_connection_type(load) or _wrong_visit(load)


def _describe_beside_quic(stack: Stack, connection: JsonMapping) -> str | None:
    """Return how a connection differs from the stack's own ones; None if it is one of these."""
    if connection.get("scheme") == "http" and stack.over_tls:
        return "in cleartext"
    if stack.is_discovered and connection["protocol"] == "h2":
        return "over HTTP/2"
    return None


def _wrong_over_tcp(stack: Stack, in_force: JsonMapping) -> str:
    """Return a wrong setting of a connection beside the stack's own, as a sentence; else "".

    Recorded http origins, and HTTP/2 where HTTP/3 is found by Alt-Svc, are served with the stack's
    TCP settings, over QUIC as well, so that they begin alike with both stacks of a comparison.
    """
    if not stack.is_ours:
        return ""
    wanted = _list_expected_settings(stack)
    wanted["congestion_control"] = controller = tcp_controller(stack.congestion_control)
    for name, value in wanted.items():
        if name == "initial_window_packets" and _has_lost_window(in_force):
            continue
        if in_force[name] not in (None, value):
            return f"{name} was {in_force[name]}, not {value}"
    paced = in_force["pacing_rate_bytes_s_max"] is not None
    # BBR paces by itself, whatever the stack's setting.
    if controller != "bbr" and paced != stack.pacing:
        return f"it was {'paced' if paced else 'not paced'}"
    return ""


def _wrong_connection_type(load: Observed) -> str:
    """Return a wrong connection type as a sentence; empty if it is right or not reported.

    A page that did not load, or has no scripts, does not report it.
    """
    wanted, seen = load.browser.forced_connection_type, load.connection_type
    if wanted in (None, seen) or (seen is None and not load.tells_connection_type):
        return ""
    return f"the browser assumed the network to be {seen or 'nothing that it told'}, not {wanted}"


def _wrong_visit(load: Observed) -> str:
    """Return a wrong use of tickets or connections for the kind of visit, as a sentence; else "".

    A repeat visit must resume a session of the first one. A first or cached visit must not, unless
    the stack issues tickets. The page of a warm visit must come over an existing connection.
    """
    if load.browser.visit == "warm":
        page = next((item for item in load.objects if item["resource_type"] == "Document"), None)
        new = page is not None and page["connect_ms"] is not None
        return "a warm visit, but the page's own connection was new" if new else ""
    protocols = load.stack.protocols
    ours = [c for c in load.connections if c["protocol"] in protocols]
    resumed = [c for c in ours if c["in_force"]["resumed"]]
    has_tickets = load.browser.visit == "repeat"
    if not has_tickets and resumed and not load.stack.session_tickets:
        number = resumed[0]["connection"]
        return f"a {load.browser.visit} visit, but connection {number} resumed a session"
    if not has_tickets or not load.stack.over_tls or not ours:
        return ""
    if not resumed:
        return "a repeat visit, but no connection resumed a session"
    early = [c["in_force"]["early_data_accepted"] for c in resumed]
    if load.stack.early_data and not any(early):
        offered = any(c["in_force"]["early_data_offered"] for c in resumed)
        what = "the servers took none" if offered else "the browser offered none"
        return f"the stack has early data, but {what}"
    return ""


def _derive_expected_in_force(stack: Stack) -> JsonObject:
    """Return the values that a connection of this stack must report, if it reports them."""
    wanted = _list_expected_settings(stack)
    if stack.over_tls:
        version, key = stack.tls_version, stack.certificate_key.upper()
        wanted["tls_version"] = version
        is_hybrid = version == "1.3" and stack.key_exchange == "hybrid"
        wanted["key_exchange"] = HYBRID if is_hybrid else CLASSICAL
        wanted["cipher"] = CIPHERS[version].format(key=key)
    if stack.over_quic:
        wanted["packet_bytes"] = stack.quic_packet_bytes
    return wanted


def _list_expected_settings(stack: Stack) -> JsonObject:
    return {
        "congestion_control": stack.congestion_control,
        "initial_window_packets": stack.initial_window_packets,
        "slow_start_after_idle": stack.slow_start_after_idle,
    }


def _knows_pacing(stack: Stack) -> bool:
    """Return whether a connection reports pacing, which it does over TCP except with BBR.

    Over QUIC the controller sets the rate, which is null until the first acknowledgement.
    """
    return not stack.over_quic and stack.congestion_control != "bbr"


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


def _wrong_first_flight(stack: Stack, in_force: JsonMapping) -> str:
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
    return not stack.over_quic and _has_lost_window(in_force)


def _has_lost_window(in_force: JsonMapping) -> bool:
    """Return whether a TCP connection lost its initial window to a repeated SYN-ACK."""
    again = in_force.get("syn_ack_retransmitted_packets") or 0
    return in_force["initial_window_packets"] == 1 and again >= SYN_ACKS_AGAIN


ACK_DELAY_MS_MAX = 25.0
"""The longest that a QUIC client delays an acknowledgement by default (RFC 9000, section 18.2)."""


def _came_before_settings(connection: JsonMapping, requests: Sequence[JsonMapping]) -> bool:
    """Return whether the client may have sent all requests without having our SETTINGS.

    Their packet may be lost once. That is detected when what follows the end of the handshake is
    acknowledged, a round trip and a delayed acknowledgement later (RFC 9002, section 6.1); a
    request from after the repair arrives one more round trip later. False if the servers do not
    report it.
    """
    in_force = connection["in_force"]
    ready_ns, rtt_ms_min = connection["ready_at_ns"], in_force["rtt_ms_min"]
    if ready_ns is None or rtt_ms_min is None:
        return False
    # The least round trip of a connection that waits in a queue is not the one it had then.
    rtt_ms = max(rtt_ms_min, in_force["rtt_ms_smoothed"] or 0.0)
    answered_ms = ((each["at_ns"] - ready_ns) / 1e6 for each in requests)
    held_ms = (each["server_us"] / 1e3 + each.get("think_ms", 0.0) for each in requests)
    repaired_ms = 2 * rtt_ms + ACK_DELAY_MS_MAX
    return all(a - h < repaired_ms for a, h in zip(answered_ms, held_ms, strict=True))


SHARE_APART_MAX = 0.01
SEGMENT_BYTES = 1460
"""The tolerance: the kernel rounds down to whole segments and then to its scale, less than 0.1 % of
15 MiB and 2 % of 64 kB."""
LARGE_SINCE = (6, 11)
"""The first Linux whose first receive window can exceed 64 kB ("tcp: remove 64 KByte limit for
initial tp->rcv_wnd value", 2024)."""
SMALL_BYTES_MAX = 65_535


def wrong_first_window(stack: Stack, in_force: JsonMapping, kernel: str = "") -> str:
    """Return a wrong first receive window as a sentence; empty if it is right.

    It is read from the client's first packet after its SYN; over QUIC the browser chooses it. A
    kernel that cannot offer as much is no failure of a load: `eyelevel validate level` reports it
    as unequal, and the record has the value.
    """
    wanted, seen = stack.receive_window_bytes, in_force["receive_window_bytes"]
    if wanted is None or seen is None or stack.over_quic:
        return ""
    if abs(seen - wanted) <= max(SEGMENT_BYTES, wanted * SHARE_APART_MAX):
        return ""
    if seen <= min(wanted, SMALL_BYTES_MAX) and not offers_large_windows(kernel):
        return ""
    return f"the client first offered a window of {seen} bytes, not {wanted}"


def offers_large_windows(kernel: str) -> bool:
    """Return whether a kernel, such as `6.8.0-45-generic`, offers first windows above 64 kB.

    True without a version number, so that nothing is excused.
    """
    version = re.match(r"(\d+)\.(\d+)", kernel)
    return version is None or (int(version[1]), int(version[2])) >= LARGE_SINCE


TABLES = ("request_table_bytes", "response_table_bytes")


def _takes_tables(connections: Iterable[JsonMapping]) -> bool:
    """Return whether the client used a table for requests on any of a load's connections."""
    return any(each["in_force"]["request_table_bytes"] for each in connections)


def _wrong_header_tables(
    stack: Stack, connection: JsonMapping, requests: Sequence[JsonMapping], *, is_taken: bool
) -> str:
    """Return a wrong table size as a sentence; empty if all are right.

    Only a connection with `requests` reports its tables. `is_taken`: the result of `_takes_tables`
    for the load. If true, a connection may lack a table if all its requests may have been sent
    before our SETTINGS came, without which a client must not use one (RFC 9204, section 3.2.3).
    These may be lost, as in 2 of 90 loads of `agency` (docs/decisions/0016-http3.md). Such loads
    are the slow ones, and must not be left out.

    A browser that uses smaller tables than offered over one protocol alone makes the stacks differ.
    It may use fewer blocked streams, as Firefox does: HPACK has none.
    """
    in_force = connection["in_force"]
    wanted = stack.header_table_bytes
    if wanted is not None:
        for name in TABLES:
            seen = in_force[name]
            if (
                name == TABLES[0]
                and seen == 0
                and is_taken
                and _came_before_settings(connection, requests)
            ):
                continue
            if seen is not None and seen != wanted:
                return f"{name} was {seen}, not {wanted}"
    blocked, seen = stack.blocked_streams_max, in_force.get("blocked_streams_max")
    if blocked is not None and seen is not None and seen > blocked:
        return f"blocked_streams_max was {seen}, more than {blocked}"
    return ""


CAPABLE = ("ect0", "ect1", "ce")
WAYS = ("down", "up")

QUIC_CAPABLE_SHARE_MIN = 0.9
"""The least share of a QUIC connection's packets that are ECT(0). noq marks all of them, but stops
if the client's acknowledgements do not report the marks. Over TCP pure acknowledgements and
retransmissions are Not-ECT."""


def wrong_ecn(
    stack: Stack,
    connections: Sequence[JsonMapping],
    requests: Sequence[JsonMapping],
    path: JsonMapping,
) -> str:
    """Return how packets differed from the stack's `ecn`, as a sentence; empty if they did not.

    Connections without a request of the load may have sent nothing that can be marked. The marks of
    external servers over QUIC are not judged.
    """
    quic = stack.over_quic
    if quic and not stack.is_ours:
        return ""
    if stack.ecn == "off":
        return _capable_though_off(connections, path)
    served = {request["connection"] for request in requests if "connection" in request}
    for connection in connections:
        over_quic = connection["protocol"] == "h3"
        if connection["connection"] not in served or over_quic != quic:
            continue
        if reason := _incapable_though_on(connection["ecn"], quic=quic):
            return f"connection {connection['connection']}: {reason}"
    return ""


def _capable_though_off(connections: Sequence[JsonMapping], path: JsonMapping) -> str:
    for way in WAYS:
        for connection in connections:
            if connection["ecn"] and (seen := capable(connection["ecn"][way])):
                return (
                    f"connection {connection['connection']}: {seen} packets {way} were ECN-capable"
                )
        if seen := capable(path[way]["ecn"]):
            return f"{seen} packets {way} were ECN-capable"
    return ""


def _incapable_though_on(ecn: JsonMapping | None, *, quic: bool) -> str:
    if ecn is None:
        return "the path knows none of its packets"
    if any(ecn[way]["ect1"] for way in WAYS):
        return "packets were ECT(1)"
    # A browser chooses its own marks over QUIC; they are in the record.
    for way in WAYS[:1] if quic else WAYS:
        share = capable_share(ecn[way])
        if not share or (quic and share < QUIC_CAPABLE_SHARE_MIN):
            return f"{share or 0:.0%} of its packets {way} were ECN-capable"
    return ""


def capable(counts: Mapping[str, int]) -> int:
    """Return the number of packets that a queue may mark, or that arrived marked."""
    return sum(counts[name] for name in CAPABLE)


def capable_share(counts: Mapping[str, int]) -> float | None:
    """Return the share of ECN-capable packets; None without packets."""
    every = counts["not_ect"] + capable(counts)
    return capable(counts) / every if every else None
