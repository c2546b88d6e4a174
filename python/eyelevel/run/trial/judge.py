"""The outcome of one load from what was observed: a pure function, the first rule that holds.

The instrument's own troubles come first: a load on a starved machine says nothing about the stack,
not even that it was too slow. Rules that need the other loads of a block or site are in
`eyelevel.analysis.trials.judgement`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.networks.network import Network
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import tcp_controller
from eyelevel.plan.stacks import Stack
from eyelevel.run.trial.rules.error_page import error_page
from eyelevel.run.trial.rules.external_server_errors import external_server_error
from eyelevel.run.trial.rules.first_flight import lost_window, reduced, wrong_first_flight
from eyelevel.run.trial.rules.first_window import wrong_first_window
from eyelevel.run.trial.rules.header_tables import wrong_header_tables
from eyelevel.run.trial.rules.starved import starved, stolen
from eyelevel.run.trial.rules.wire_ecn import wrong_ecn
from eyelevel.sites.rendering import blocks_rendering
from eyelevel.store.outcomes import NOT_RECORDED

KEY_EXCHANGES = {"1.2": "X25519", "1.3": "X25519MLKEM768"}
"""The group that Chromium sends a key share of and our servers put first; the post-quantum one
exists in TLS 1.3 alone."""
CIPHERS = {
    "1.2": "TLS_ECDHE_{key}_WITH_AES_128_GCM_SHA256",
    "1.3": "TLS13_AES_128_GCM_SHA256",
}
"""The one suite that our servers have, by TLS version and the certificate's key."""
CLEARTEXT_PROTOCOLS = ("http/1.1", "http/1.0")
"""What recorded http origins are served over, whatever the stack."""
_EXEMPT_TYPES = ("WebSocket", "Preflight")
# A page or an object that the network never delivered: a result of stack and network.
_TRANSPORT_ERRORS = (
    "net::ERR_CONNECTION_",
    "net::ERR_QUIC_",
    "net::ERR_HTTP2_",
    "net::ERR_TIMED_OUT",
    "net::ERR_EMPTY_RESPONSE",
    "net::ERR_NETWORK_CHANGED",
    "NS_ERROR_CONNECTION_REFUSED",
    "NS_ERROR_GENERATE_FAILURE",
    "NS_ERROR_NET_",
)
_NOT_REACHED = ("net::ERR_ADDRESS_UNREACHABLE", "net::ERR_INTERNET_DISCONNECTED")
# An object whose server could not agree with the browser on TLS over TCP: the lab's fault, and no
# network's, so that a page which fails like this is no timeout.
_HANDSHAKE_ERRORS = ("net::ERR_SSL_", "net::ERR_BAD_SSL_")


@dataclass(frozen=True)
class Observed:
    """One load as its judge sees it.

    `ended` and `detail` are the browser's; `objects` the record's; `frames` how many, None without
    capture; `requests`, `connections` and
    `path` the lab's; `host` the shares of `HostSample.until`; `connection_type` what the
    browser took the network for; `kernel` its release;
    `timings_refused` why the page's own timings are not believed; `requests_lost` how many are not
    among `objects`;
    `failed_step` what failed after the load.
    """

    ended: str
    detail: str
    objects: Sequence[JsonMapping]
    frames: int | None
    frames_lost: int
    first_contentful_paint_ms: float | None
    page_load_time_ms: float | None
    final_picture_matches: bool | None
    requests: Sequence[JsonMapping]
    connections: Sequence[JsonMapping]
    path: JsonMapping
    host: JsonMapping
    stack: Stack
    network: Network
    browser: Browser
    timings_refused: str = ""
    requests_lost: int = 0
    connection_type: str | None = None
    kernel: str = ""
    failed_step: str = ""

    @property
    def tells_connection_type(self) -> bool:
        """Whether the browser was to say it: of a page that came, by a script of ours."""
        return self.ended == "complete" and self.browser.javascript


def judge(load: Observed) -> tuple[str, str]:
    """The outcome and one sentence about it; the sentence is empty for `ok`."""
    for outcome, rule in _RULES:
        detail = rule(load)
        if detail:
            return outcome, detail
    return "ok", ""


def judge_live(load: Observed) -> tuple[str, str]:
    """The same of a load without servers and path of ours: `requests`, `connections` and `path` are
    empty. An object that did not come is part of such a page: it may be missing for everybody."""
    for outcome, rule in _LIVE_RULES:
        if detail := rule(load):
            return outcome, detail
    return "ok", ""


def misses(load: Observed) -> set[str]:
    """URLs that the page asked for and the recording does not hold."""
    unanswered = {r["url"] for r in load.requests if r["match"] == "miss"}
    unresolved = {o["url"] for o in load.objects if (o["failed"] or "") in NOT_RECORDED}
    return unanswered | unresolved


def _crashed(load: Observed) -> str:
    return load.detail if load.ended == "browser-crashed" else ""


def _lab_failed(load: Observed) -> str:
    if load.ended == "navigation-failed" and not _is_transport_error(load.detail):
        return load.detail
    if load.ended == "complete" and not load.requests and load.stack.is_ours:
        return "the page loaded, but no server saw a request"
    return ""


def _not_reached(load: Observed) -> str:
    if load.ended != "navigation-failed" or _is_transport_error(load.detail):
        return ""
    if any(error in load.detail for error in _NOT_REACHED):
        return f"{load.detail}; a live load reaches public addresses alone, and what --allow names"
    return load.detail


def _starved(load: Observed) -> str:
    return starved(load.path, load.host, load.network.rtt_ms_min)


def _wrong_protocol(load: Observed) -> str:
    expected = load.stack.protocol
    schemes = set()
    for item in load.objects:
        if item["from"] != "network" or item["protocol"] is None:
            continue
        if item["resource_type"] in _EXEMPT_TYPES:
            continue
        schemes.add(scheme := urlsplit(item["url"]).scheme)
        if scheme == "http" and item["protocol"] not in CLEARTEXT_PROTOCOLS:
            return f"{item['url']} came over {item['protocol']} though it was recorded in cleartext"
        if scheme == "https" and item["protocol"] != expected:
            return f"{item['url']} came over {item['protocol']} instead of {expected}"
    if schemes == {"http"} and load.stack.over_tls:
        return (
            "every object came over http in cleartext, with which no stack is in force; "
            "`eyelevel site import --secure` makes an https site of the recording"
        )
    return ""


def _wrong_stack(load: Observed) -> str:
    stack = load.stack
    wanted = _in_force_wanted(stack)
    served = {request["connection"] for request in load.requests}
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
            if name == "initial_window_packets" and reduced(stack, in_force):
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
        if connection["connection"] in served and (reason := wrong_header_tables(stack, in_force)):
            return f"{which}: {reason}"
    if reason := wrong_ecn(stack, load.connections, load.requests, load.path):
        return f"ecn is {stack.ecn}, but {reason}"
    return _wrong_connection_type(load) or _wrong_visit(load)


def _wrong_cleartext(stack: Stack, in_force: JsonMapping) -> str:
    """Recorded http origins are served as the stack's TCP has it, over QUIC as well, so that they
    begin alike with both stacks of a comparison."""
    if not stack.is_ours:
        return ""
    wanted = _of_transport(stack)
    wanted["congestion_control"] = controller = tcp_controller(stack.congestion_control)
    for name, value in wanted.items():
        if name == "initial_window_packets" and lost_window(in_force):
            continue
        if in_force[name] not in (None, value):
            return f"{name} was {in_force[name]}, not {value}"
    paced = in_force["pacing_rate_bytes_s_max"] is not None
    # BBR paces itself, whatever the stack says.
    if controller != "bbr" and paced != stack.pacing:
        return f"it was {'paced' if paced else 'not paced'}"
    return ""


def _wrong_connection_type(load: Observed) -> str:
    """A page that did not come, or whose scripts do not run, tells of none."""
    wanted, seen = load.browser.forced_connection_type, load.connection_type
    if wanted in (None, seen) or (seen is None and not load.tells_connection_type):
        return ""
    return f"the browser took the network for {seen or 'nothing that it told'}, not {wanted}"


def _wrong_visit(load: Observed) -> str:
    """A repeat visit must have had use of the first one's tickets; a first has none unless the
    stack gives them out; the page of a warm visit came over a connection that was there."""
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


def _in_force_wanted(stack: Stack) -> JsonObject:
    """What a connection of this stack must say, where it says it."""
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
    """Over QUIC the rate is the controller's, and null until the first acknowledgement."""
    return not stack.over_quic and stack.congestion_control != "bbr"


def _missed(load: Observed) -> str:
    if not load.stack.is_ours:
        return external_server_error(load.objects)
    missed = misses(load)
    for item in load.objects:
        if item["url"] in missed and blocks_rendering(item):
            return f"render-blocking {item['url']} is not in the recording"
    return ""


def _timeout(load: Observed) -> str:
    if load.ended == "timeout":
        return load.detail
    if load.ended == "navigation-failed" and _is_transport_error(load.detail):
        return f"the page never came: {load.detail}"
    return ""


def _different_page(load: Observed) -> str:
    for item in load.objects:
        failed = item["failed"] or ""
        if failed.startswith(_TRANSPORT_ERRORS + _HANDSHAKE_ERRORS) and failed not in NOT_RECORDED:
            return f"{item['url']} failed: {failed}"
    return load.failed_step


def _capture_incomplete(load: Observed) -> str:
    if load.requests_lost:
        return f"the page made {load.requests_lost} more requests than are kept of a load"
    if load.timings_refused:
        return load.timings_refused
    if load.page_load_time_ms is None:
        return "the page's own timings could not be read"
    painted = load.first_contentful_paint_ms is not None
    if painted and load.frames is not None and load.frames < 2:
        return "the page painted, but no frame shows it"
    if load.frames_lost:
        return f"the browser had to drop {load.frames_lost} frames"
    if load.final_picture_matches is False:
        return "the last frame is not what the page shows at the end"
    return ""


def _is_transport_error(detail: str) -> bool:
    return any(error in detail for error in _TRANSPORT_ERRORS) and not any(
        error in detail for error in NOT_RECORDED
    )


_RULES: tuple[tuple[str, Callable[[Observed], str]], ...] = (
    ("browser-crashed", _crashed),
    ("lab-failed", _lab_failed),
    ("starved", _starved),
    ("wrong-protocol", _wrong_protocol),
    ("wrong-stack", _wrong_stack),
    ("missed-requests", _missed),
    ("timeout", _timeout),
    ("different-page", _different_page),
    ("capture-incomplete", _capture_incomplete),
)

_LIVE_RULES: tuple[tuple[str, Callable[[Observed], str]], ...] = (
    ("browser-crashed", _crashed),
    ("lab-failed", _not_reached),
    ("starved", lambda load: stolen(load.host)),
    ("timeout", _timeout),
    ("different-page", lambda load: error_page(load.objects) or load.failed_step),
    ("capture-incomplete", _capture_incomplete),
)
