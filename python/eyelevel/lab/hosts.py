"""Names of hosts."""

import ipaddress


def is_unasked(host: str) -> bool:
    """Whether a browser knows where the host is without a resolver (RFC 6761, section 6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
