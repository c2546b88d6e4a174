"""Names used by the prober and the thesis: protocols, comparisons, failures."""

THESIS_NAMES = {
    "tcp": "TCP",
    "tls1.2": "TCP/TLS1.2",
    "tls1.3": "TCP/TLS1.3",
    "quic": "QUICv1",
    "quic-v2": "QUICv2",
}
"""Names in the thesis's column `Protocol`, by ours; its QUIC was Q043 and Q039."""

GOOGLE_QUIC_ORDER = ("Q043", "Q039", "Q035")
"""Google's QUIC versions of 2018, in the order in which partners are searched."""

COMPARISONS = (
    ("tls1.2", "tls1.3"),
    ("tls1.2", "quic"),
    ("tls1.3", "quic"),
    ("quic", "quic-v2"),
)
"""A and B of each difference A - B: positive if B is faster (the thesis, 4.2 to 4.4)."""

FAILURE_CLASSES = {
    "dns-no-such-name": "the resolver says that the name does not exist",
    "dns-no-address": "the name has no address of the family asked for",
    "dns-timeout": "no answer of the resolver in time",
    "dns-refused": "the resolver answered with an error",
    "unreachable": "no route to the address, or the network said so",
    "refused": "the port is closed",
    "tcp-timeout": "no answer to the TCP handshake in time",
    "reset": "the connection was reset",
    "closed": "the server closed before the handshake or the response was complete",
    "tls-version": "the server does not speak the TLS version",
    "tls-alert": "the server ended the handshake with an alert",
    "tls-timeout": "the TLS handshake was not complete in time",
    "tls-protocol": "the server's handshake breaks the protocol",
    "certificate": "the certificate is not valid for the name or not trusted",
    "quic-version": "the server does not speak the QUIC version",
    "quic-timeout": "no complete QUIC handshake in time",
    "quic-closed": "the server closed the QUIC connection with an error",
    "quic-protocol": "the server's packets break the protocol",
    "http-timeout": "no response in time",
    "http-protocol": "what came back is no HTTP response",
    "no-session": "the server gave no session to resume",
    "local": "this machine could not make the attempt: a port, a descriptor, a route",
}
"""The closed list of failure classes, as written by the data plane (crates/probe), with their
meaning; a row's `failure_detail` has the text of the server or the system.
"""

_FROM_THESIS = {name: ours for ours, name in THESIS_NAMES.items()}


def protocol_of(written: str) -> str:
    """Return our name of a protocol in the thesis's CSV.

    Every version of Google's QUIC is `quic`.
    """
    if written.startswith("Q0"):
        return "quic"
    return _FROM_THESIS.get(written, written)


def version_rank(version: str | None) -> int:
    """Return the rank of a version in the search for partners: Google's first."""
    if version in GOOGLE_QUIC_ORDER:
        return GOOGLE_QUIC_ORDER.index(version)
    return len(GOOGLE_QUIC_ORDER)
