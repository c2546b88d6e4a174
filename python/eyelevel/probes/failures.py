"""The closed list of failure classes, as the data plane writes them (crates/probe)."""

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
    "local": "this machine could not make the attempt: a port, a descriptor, a route",
}
"""Class and meaning; `failure_detail` of a row says what the server or the system said."""
