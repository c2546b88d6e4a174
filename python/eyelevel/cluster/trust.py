"""Who may reach a scheduler: this machine, whoever has a certificate, or all of a trusted network.

Whoever speaks with a scheduler or a worker of Dask's can run programs there. So ports that others
reach take Dask's TLS, both sides with certificates of one authority, unless the user says that
nobody else is on that network.
"""

import ipaddress
import socket
from typing import Literal
from urllib.parse import urlsplit

import dask

from eyelevel.cluster.connection import ClusterError

Protocol = Literal["tcp", "tls"]
Role = Literal["client", "scheduler", "worker"]

REMEDY = (
    "give Dask's TLS settings (docs/guides/many-machines.md), or --trust-network if nobody "
    "else is on that network"
)


def listening_protocol(host: str, *, is_trusted: bool) -> Protocol:
    """What a scheduler at `host` speaks. Raises ClusterError where it would be open to others."""
    if _has_tls("scheduler") and _has_tls("client"):
        return "tls"
    if is_trusted or _is_loopback(host):
        return "tcp"
    raise ClusterError(
        f"listening on {host}: anybody who reaches that port could run programs here and on all "
        f"workers; {REMEDY}"
    )


def check_address(address: str, role: Role, *, is_trusted: bool) -> None:
    """Raises ClusterError where others could be at a scheduler's address, or on the way to it."""
    protocol, _, place = address.partition("://")
    if protocol == "tls":
        if not _has_tls(role):
            raise ClusterError(
                f"connecting to {address}: Dask has no TLS settings for a {role}; give "
                f"distributed.comm.tls.ca-file and .{role}.cert and .key "
                "(docs/guides/many-machines.md)"
            )
    elif not is_trusted and not _is_loopback(place.rpartition(":")[0].strip("[]")):
        raise ClusterError(
            f"connecting to {address}: anybody there or on the way could run programs here; "
            f"{REMEDY}"
        )


def facing(address: str) -> str:
    """This machine's own address by which it reaches a scheduler's, where its slots listen.

    Nothing is sent. Raises OSError where there is no way, or the name is not known.
    """
    place = urlsplit(address)
    found = socket.getaddrinfo(place.hostname, place.port, type=socket.SOCK_DGRAM)
    family, kind, _, _, there = found[0]
    with socket.socket(family, kind) as way:
        way.connect(there)
        return str(way.getsockname()[0])


def bracketed(host: str) -> str:
    """As Dask has a host: an address of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def _has_tls(role: Role) -> bool:
    keys = ("ca-file", f"{role}.cert")
    return all(dask.config.get(f"distributed.comm.tls.{key}", None) for key in keys)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
