"""Transport errors by the browser's names: losses on the network, and faults of the server.

A loss on the network is a result of stack and network. A fault of a peer, which is a server of the
lab, is the instrument's failure. Names: Chromium's `net_error_list.h`, with those of
`quic_error_codes.h` after a dot, and Firefox's `ErrorList.py`.
"""

from collections.abc import Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.store.outcomes import NOT_RECORDED

_OF_NETWORK = (
    "net::ERR_CONNECTION_",
    "net::ERR_TIMED_OUT",
    "net::ERR_EMPTY_RESPONSE",
    # A handshake that never ended; over TCP it is a connection that timed out.
    "net::ERR_QUIC_HANDSHAKE_FAILED",
    # No answer to a PING: the one error of HTTP/2 that no frame of the peer causes.
    "net::ERR_HTTP2_PING_FAILED",
    "NS_ERROR_CONNECTION_REFUSED",
    "NS_ERROR_GENERATE_FAILURE",
    "NS_ERROR_NET_EMPTY_RESPONSE",
    "NS_ERROR_NET_INTERRUPT",
    "NS_ERROR_NET_PARTIAL_TRANSFER",
    "NS_ERROR_NET_RESET",
    "NS_ERROR_NET_TIMEOUT",
)
_ENDED = (
    "net::ERR_CONNECTION_ABORTED",
    "net::ERR_CONNECTION_CLOSED",
    "net::ERR_CONNECTION_RESET",
    "net::ERR_EMPTY_RESPONSE",
    "NS_ERROR_NET_EMPTY_RESPONSE",
    "NS_ERROR_NET_INTERRUPT",
    "NS_ERROR_NET_PARTIAL_TRANSFER",
    "NS_ERROR_NET_RESET",
)
"""Errors of a connection that ended, which do not show which end closed it."""
_QUIC_ERROR = "net::ERR_QUIC_PROTOCOL_ERROR"
# The ends of a QUIC connection whose packets no longer arrive. Every other code names a fault of
# the peer or the browser. A server that has timed out answers with a stateless reset.
_QUIC_OF_NETWORK = (
    "QUIC_NETWORK_IDLE_TIMEOUT",
    "QUIC_SILENT_IDLE_TIMEOUT",
    "QUIC_HANDSHAKE_TIMEOUT",
    "QUIC_TOO_MANY_RTOS",
    "QUIC_TIMEOUTS_WITH_OPEN_STREAMS",
    "QUIC_BAD_PACKET_LOSS_RATE",
    "QUIC_PUBLIC_RESET",
    "QUIC_CONNECTION_MIGRATION_",
)
_OF_PEER = (
    "net::ERR_HTTP2_",
    "net::ERR_QUIC_",
    "net::ERR_SSL_",
    "net::ERR_BAD_SSL_",
    # A body or a head that ends early: everything arrived that the server sent before it closed.
    "net::ERR_CONTENT_LENGTH_MISMATCH",
    "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
    "net::ERR_INCOMPLETE_HTTP2_HEADERS",
    "net::ERR_RESPONSE_HEADERS_TRUNCATED",
    # The lab's devices disappeared, which no stage of a path causes.
    "net::ERR_NETWORK_CHANGED",
    "NS_ERROR_NET_",
)


def is_network_loss(error: str) -> bool:
    """Return whether the network lost an object or a page that failed with this error.

    A QUIC connection that ended without a code of the browser's has lost its path: a fault of a
    peer has a code.
    """
    if error.startswith(NOT_RECORDED):
        return False
    if error.startswith(_QUIC_ERROR):
        code = _code(error)
        return not code or code.startswith(_QUIC_OF_NETWORK)
    return error.startswith(_OF_NETWORK)


def broken_by_peer(error: str) -> bool:
    """Return whether the server, or the lab around it, caused this error."""
    return (
        error.startswith(_OF_PEER)
        and not is_network_loss(error)
        and not error.startswith(NOT_RECORDED)
    )


def server_fault(error: str, connections: Sequence[JsonMapping]) -> str:
    """Return the servers' own error if a connection ended and they may have ended it, else "".

    A path ends no connection, so an error that a server recorded takes precedence. Browsers do not
    report which of a load's connections an object came over.
    """
    if not error.startswith(_ENDED):
        return ""
    found = (each["in_force"].get("server_error") for each in connections)
    return next(filter(None, found), "")


def _code(error: str) -> str:
    """Return QUIC's code of `net::ERR_QUIC_PROTOCOL_ERROR.CODE (reason)`; empty: none."""
    return error.removeprefix(_QUIC_ERROR).removeprefix(".").split(" ")[0]
