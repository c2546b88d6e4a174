"""The columns of a row of `eyelevel probe`: type and meaning, for Parquet and documentation."""

import polars as pl

_INT, _TEXT, _BOOL = pl.Int64(), pl.String(), pl.Boolean()

COLUMNS: dict[str, tuple[pl.DataType, str]] = {
    "event": (_TEXT, "`attempt`"),
    "vantage": (_TEXT, "where from: `--vantage`"),
    "host": (_TEXT, "the name or address asked for"),
    "port": (_INT, "its port"),
    "path": (_TEXT, "of the request"),
    "protocol": (_TEXT, "`tcp`, `tls1.2`, `tls1.3`, `quic` or `quic-v2`"),
    "attempt": (_INT, "the number of the attempt over its protocol and family, from 0"),
    "order": (_INT, "its place in the host's random order, from 0"),
    "at_unix_us": (_INT, "Unix time at its beginning: a label"),
    "at_ns": (_INT, "`CLOCK_MONOTONIC` at its beginning: every duration counts from here"),
    "address": (_TEXT, "the server's IP address"),
    "local_port": (_INT, "the port sent from"),
    "dns_us": (_INT, "from query to answer, once for each host and family; in no other time"),
    "tcp_handshake_us": (_INT, "from SYN to SYN-ACK, as the kernel measured if no SYN was lost"),
    "tls_handshake_us": (_INT, "from the ClientHello to the end of TLS's handshake"),
    "quic_handshake_us": (_INT, "from the first Initial to the end of the handshake"),
    "connection_us": (_INT, "all handshakes together: TCP's and TLS's, or QUIC's"),
    "first_request_byte_us": (_INT, "until the request's first byte went out"),
    "first_byte_us": (_INT, "until the response's head had arrived"),
    "rtt_us": (_INT, "TCP: the kernel's estimate; QUIC: to the first answer"),
    "round_trips": (_INT, "waits for the server until the connection was complete, TCP's included"),
    "extra_round_trips": (
        _INT,
        "of these, not needed and not explained by Retry or "
        "HelloRetryRequest: a certificate beyond QUIC's threefold limit, or loss",
    ),
    "http_status": (_INT, "of the response"),
    "http_version": (_TEXT, "`http/1.1`, `h2` or `h3`"),
    "alt_svc": (_TEXT, "the field `Alt-Svc` of the response, its first 500 bytes"),
    "version": (_TEXT, "`TCP`, `TLSv1_2`, `TLSv1_3`, or QUIC's `1` or `2`"),
    "cipher": (_TEXT, "the cipher suite"),
    "key_exchange": (_TEXT, "the key exchange group"),
    "key_exchange_kind": (_TEXT, "`classical` or `post-quantum`"),
    "certificate_bytes": (_INT, "of the server's chain as DER"),
    "sent_bytes": (_INT, "payload of TCP or UDP sent until the handshake was complete"),
    "sent_pieces": (_INT, "datagrams of UDP, writes to TCP"),
    "received_bytes": (_INT, "payload that arrived until then"),
    "received_pieces": (_INT, "datagrams of UDP, reads from TCP"),
    "syn_retransmits": (_INT, "SYNs sent again"),
    "retries": (_INT, "valid Retry packets of QUIC: 0 or 1"),
    "hello_retry_request": (_BOOL, "the server asked for another key share"),
    "version_negotiation": (_BOOL, "the server answered with Version Negotiation"),
    "versions_offered": (pl.List(pl.String()), "the QUIC versions in it"),
    "resumption_offered": (_BOOL, "a session made before was offered"),
    "resumed": (_BOOL, "and was resumed"),
    "early_data_offered": (_BOOL, "the request went out as early data, QUIC's 0-RTT"),
    "early_data_accepted": (_BOOL, "and was accepted"),
    "split_connection": (_BOOL, "a proxy ends TCP: its handshake is far shorter than TLS's trips"),
    "crypto_us": (_INT, "inside the TLS library during the handshake, on this side"),
    "stamp_delay_us": (
        pl.Float64(),
        "from arrivals that were waited for until they were read: in no handshake's time if "
        "`kernel_stamps` holds",
    ),
    "kernel_stamps": (_BOOL, "the arrivals' times are the kernel's"),
    "failure": (_TEXT, "the class of the failure; null: the attempt succeeded"),
    "failure_detail": (_TEXT, "what the server, or the system, said"),
    "path_rtt_ms": (pl.Float64(), "in a lab: the emulated path's round-trip time"),
}
"""Name to type and meaning, in the order of the data plane's rows. Times in `_us` are microseconds,
null if the step was not reached."""
