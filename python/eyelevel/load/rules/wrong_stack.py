"""Check that each connection used the settings of the stack."""

from collections import defaultdict

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.load.observed import Observed
from eyelevel.load.rules.first_flight import has_lost_window, has_reduced_window, wrong_first_flight
from eyelevel.load.rules.first_window import wrong_first_window
from eyelevel.load.rules.header_tables import takes_tables, wrong_header_tables
from eyelevel.load.rules.wire_ecn import wrong_ecn
from eyelevel.plan.in_force import tcp_controller
from eyelevel.plan.stacks import Stack

KEY_EXCHANGES = {"1.2": "X25519", "1.3": "X25519MLKEM768"}
"""The group of Chromium's key share that our servers prefer, by TLS version; only TLS 1.3 has the
post-quantum one."""
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
    is_taken = takes_tables(each for each in load.connections if each["protocol"] == stack.protocol)
    for connection in load.connections:
        if connection.get("scheme") == "http" and stack.over_tls:
            if reason := _wrong_cleartext(stack, connection["in_force"]):
                return f"connection {connection['connection']}, in cleartext: {reason}"
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
        if reason := wrong_first_flight(stack, in_force):
            return f"{which}: {reason}"
        if reason := wrong_first_window(stack, in_force, load.kernel):
            return f"{which}: {reason}"
        asked = served[connection["connection"]]
        if asked and (reason := wrong_header_tables(stack, connection, asked, is_taken=is_taken)):
            return f"{which}: {reason}"
    if reason := wrong_ecn(stack, load.connections, load.requests, load.path):
        return f"ecn is {stack.ecn}, but {reason}"
    return _wrong_connection_type(load) or _wrong_visit(load)


def _wrong_cleartext(stack: Stack, in_force: JsonMapping) -> str:
    """Return a wrong setting of a cleartext connection, as a sentence; empty if there is none.

    Recorded http origins are served with the stack's TCP settings, over QUIC as well, so that they
    begin alike with both stacks of a comparison.
    """
    if not stack.is_ours:
        return ""
    wanted = _of_transport(stack)
    wanted["congestion_control"] = controller = tcp_controller(stack.congestion_control)
    for name, value in wanted.items():
        if name == "initial_window_packets" and has_lost_window(in_force):
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

    A repeat visit must resume a session of the first one. A first visit must not, unless the stack
    issues tickets. The page of a warm visit must come over an existing connection.
    """
    if load.browser.visit == "warm":
        page = next((item for item in load.objects if item["resource_type"] == "Document"), None)
        new = page is not None and page["connect_ms"] is not None
        return "a warm visit, but the page's own connection was new" if new else ""
    protocol = load.stack.protocol
    ours = [c for c in load.connections if c["protocol"] == protocol]
    resumed = [c for c in ours if c["in_force"]["resumed"]]
    if load.browser.visit == "first" and resumed and not load.stack.session_tickets:
        return f"a first visit, but connection {resumed[0]['connection']} resumed a session"
    if load.browser.visit == "first" or not load.stack.over_tls or not ours:
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
    wanted = _of_transport(stack)
    if stack.over_tls:
        version, key = stack.tls_version, stack.certificate_key.upper()
        wanted["tls_version"] = version
        wanted["key_exchange"] = KEY_EXCHANGES[version]
        wanted["cipher"] = CIPHERS[version].format(key=key)
    if stack.over_quic:
        wanted["packet_bytes"] = stack.quic_packet_bytes
    return wanted


def _of_transport(stack: Stack) -> JsonObject:
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
