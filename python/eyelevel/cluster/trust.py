"""Restrict access to a scheduler: to holders of a certificate, or to a trusted network.

Everyone who can connect to a Dask scheduler or worker can run programs there, including other users
of the same machine by loopback. So each port requires TLS, both sides with certificates of one
authority, unless the user declares the network trusted. If both ends are on loopback, the run
creates these certificates itself.

TLS credentials of one run on loopback, which every user of a machine can reach.

Scheduler, nannies and workers all present the same certificate and accept no other. Its key is in
memory and, if slots are started by hand, in a file that only its owner can read.
"""

import errno
import ipaddress
import json
import os
import socket
import ssl
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from ssl import TLSVersion
from typing import Literal, Self
from urllib.parse import urlsplit

import dask
from distributed.security import Security

from eyelevel.cluster.connection import CONNECT_S, ClusterError
from eyelevel.cluster.tls_settings import GUIDE, Role, is_begun, lacking, read_security, without_tls
from eyelevel.lab.binary import run_tool


@dataclass(frozen=True)
class Credentials:
    """A private key and its self-signed certificate, both as PEM."""

    key: str = field(repr=False)
    certificate: str

    @classmethod
    def new(cls) -> Self:
        """Generate new credentials. Raises `LabError`."""
        made = run_tool(["credentials"])
        return cls(made["key"], made["certificate"])

    @classmethod
    def of_json(cls, found: object) -> Self | None:
        """Return the credentials from `as_json`'s value; None for any other value."""
        match found:
            case {"key": str(key), "certificate": str(certificate)}:
                return cls(key, certificate)
        return None

    @classmethod
    def of_line(cls, line: bytes) -> Self | None:
        """Parse the line that a run writes to its own slots; None if the run ended before."""
        return cls.of_json(json.loads(line)) if line.endswith(b"\n") else None

    def as_json(self) -> dict[str, str]:
        """Return the credentials as JSON for `of_json`."""
        return {"key": self.key, "certificate": self.certificate}

    def security(self) -> Security:
        """Return the credentials as Dask's `Security`; none of Dask's own TLS settings is used."""
        pairs: dict[str, str] = {}
        for role in ("client", "scheduler", "worker"):
            pairs |= {f"tls_{role}_key": self.key, f"tls_{role}_cert": self.certificate}
        return Security(
            require_encryption=True,
            tls_ca_file=self.certificate,
            tls_min_version=TLSVersion.TLSv1_3,  # all ends run the same version of eyelevel
            tls_max_version=None,
            tls_ciphers=None,
            **pairs,
        )


def check_own(file: Path) -> None:
    """Raise `ClusterError` for a credentials file that another user owns or can write to.

    The owner of these credentials can run programs as this user.
    """
    found = file.stat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise ClusterError(
            f"reading {file}: another user wrote it or can change it, and whoever does could run "
            "programs as you; start the worker as the user who started the run"
        )


def check_private(file: Path) -> None:
    """Raise `ClusterError` if others can read a file, as on disks without permissions."""
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise ClusterError(
            f"writing {file}: this disk lets other users read it, and it holds the run's key; give "
            "--out a directory on another disk, or Dask's TLS settings "
            "(docs/guides/many-machines.md)"
        )


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
