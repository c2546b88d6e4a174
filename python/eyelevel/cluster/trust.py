"""Restrict access to a scheduler: to holders of a certificate, or to a trusted network.

Everyone who can connect to a Dask scheduler or worker can run programs there, including other users
of the same machine by loopback. So each port requires TLS, both sides with certificates of one
authority, unless the user declares the network trusted. If both ends are on loopback, the run
creates these certificates itself.
"""

import errno
import ipaddress
import os
import socket
import ssl
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit

import dask
from distributed.security import Security

from eyelevel.cluster.connection import CONNECT_S, ClusterError
from eyelevel.cluster.credentials import Credentials
from eyelevel.cluster.tls_settings import GUIDE, Role, is_begun, lacking, read_security, without_tls

Protection = Literal["own", "settings", "none"]
"""How a scheduler on this machine is protected: by the run's own credentials, by Dask's TLS
settings, or not at all on a trusted network.
"""

REMEDY = f"give Dask's TLS settings {GUIDE}, or --trust-network if nobody else is on that network"
GREETING_S = 2.0
"""Seconds to wait for first bytes; an idle scheduler sends them within a round trip."""
REQUIRED = "distributed.comm.require-encryption"


def listening_protection(host: str, *, is_trusted: bool) -> Protection:
    """Return how a scheduler listening at `host` is protected.

    Raises `ClusterError` if it would be open to others, and for unusable TLS settings.
    """
    if not (absent := lacking("scheduler", "client")):
        read_security("scheduler", "client")
        return "settings"
    if is_trusted:
        _check_cleartext(f"listening on {host}")
        return "none"
    if _is_loopback(host):
        return "own"
    begun = f" (not set: {', '.join(absent)})" if is_begun("scheduler", "client") else ""
    raise ClusterError(
        f"listening on {host}: anybody who reaches that port could run programs here and on all "
        f"workers; {REMEDY}{begun}"
    )


def read_trust(
    address: str, role: Role, *, is_trusted: bool, credentials: Credentials | None = None
) -> Security:
    """Return the TLS settings with which `role` connects to a scheduler's address.

    `credentials`: those of the run, if it has its own; used on loopback only. Raises `ClusterError`
    if others could be at the address or on the path to it, and for unusable TLS settings.
    """
    protocol, _, place = address.partition("://")
    if protocol == "tls":
        is_here = _is_loopback(_host_of(place))
        if credentials is not None and is_here:
            return credentials.security()
        if lacking(role) and is_here and not is_begun(role):
            raise ClusterError(
                f"connecting to {address}: a run that listens on loopback has credentials of its "
                f"own; give its DIR/scheduler.json, or Dask's TLS settings {GUIDE}"
            )
        return read_security(role)
    if not is_trusted:
        reach = (
            "any user of this machine could be there and run programs as you"
            if _is_loopback(_host_of(place))
            else "anybody there or on the way could run programs here"
        )
        raise ClusterError(f"connecting to {address}: {reach}; {REMEDY}")
    _check_cleartext(f"connecting to {address}")
    return without_tls()


def check_handshake(
    address: str, connection: socket.socket, security: Security, role: Role = "client"
) -> None:
    """Raise `ClusterError` if the TLS handshake with a scheduler fails; `OSError` if it is gone.

    It also fails if only one side uses TLS.
    """
    connection.settimeout(CONNECT_S)
    context = security.get_connection_args(role)["ssl_context"]
    if context is None:
        _check_greeting(address, connection)
        return
    try:
        with context.wrap_socket(connection) as wrapped:
            # The scheduler sends first, once it has verified the client's certificate.
            wrapped.recv(1)
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:  # an ended scheduler, too
        raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)) from error
    except ssl.SSLError as error:
        raise ClusterError(
            f"connecting to the scheduler at {address}: {_tls_reason(error)}; give both sides "
            f"certificates of one authority {GUIDE}"
        ) from error


def facing(address: str) -> str:
    """Return the local address from which this machine reaches a scheduler; its slots listen there.

    Sends nothing. Raises `OSError` without a route, or if the name cannot be resolved.
    """
    place = urlsplit(address)
    found = socket.getaddrinfo(place.hostname, place.port, type=socket.SOCK_DGRAM)
    family, kind, _, _, there = found[0]
    with socket.socket(family, kind) as way:
        way.connect(there)
        return str(way.getsockname()[0])


def bracket_host(host: str) -> str:
    """Return a host as Dask writes it, with an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _tls_reason(error: ssl.SSLError) -> str:
    """Return as a clause which side refused the handshake, and why."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is refused here ({error.verify_message})"
    reason = (error.reason or str(error)).lower().replace("_", " ")
    if "alert" in reason:
        return f"it refuses the certificate of this machine ({reason})"
    return f"it does not speak TLS as we do ({reason})"


def _check_greeting(address: str, connection: socket.socket) -> None:
    """Raise `ClusterError` if a scheduler waits for TLS; in cleartext it sends first."""
    connection.settimeout(GREETING_S)
    with suppress(TimeoutError):
        connection.recv(1)
        return
    # It may just be slow: a reply to a TLS handshake proves that it uses TLS.
    connection.settimeout(CONNECT_S)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_socket(connection).close()
    except ssl.SSLError as error:
        if "ALERT" not in (error.reason or ""):
            raise
    raise ClusterError(
        f"connecting to the scheduler at {address}: it has TLS; write "
        f"tls{address.removeprefix('tcp')}, and give Dask's TLS settings {GUIDE}"
    )


def _check_cleartext(attempt: str) -> None:
    if dask.config.get(REQUIRED, None):
        raise ClusterError(
            f"{attempt} without TLS: Dask's setting {REQUIRED} forbids it; give Dask's TLS "
            f"settings {GUIDE}, or take the setting back"
        )


def _host_of(place: str) -> str:
    return place.rpartition(":")[0].strip("[]")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
