"""The protocols that are compared: our names, the thesis's names, what is paired with what."""

THESIS_NAMES = {
    "tcp": "TCP",
    "tls1.2": "TCP/TLS1.2",
    "tls1.3": "TCP/TLS1.3",
    "quic": "QUICv1",
    "quic-v2": "QUICv2",
}
"""Our names and what stands in the thesis's column `Protocol`; its QUIC was Q043 and Q039."""

GOOGLE_QUIC_ORDER = ("Q043", "Q039", "Q035")
"""Google's QUIC versions of 2018, in the order in which partners are searched."""

COMPARISONS = (
    ("tls1.2", "tls1.3"),
    ("tls1.2", "quic"),
    ("tls1.3", "quic"),
    ("quic", "quic-v2"),
)
"""A and B of each difference A - B: positive where B is faster (the thesis, 4.2 to 4.4)."""

_FROM_THESIS = {name: ours for ours, name in THESIS_NAMES.items()}


def protocol_of(written: str) -> str:
    """Our name of a thesis CSV's protocol; every Google QUIC version is `quic`."""
    if written.startswith("Q0"):
        return "quic"
    return _FROM_THESIS.get(written, written)


def version_rank(version: str | None) -> int:
    """Where a row stands in the search for a partner: Google's versions one after the other."""
    if version in GOOGLE_QUIC_ORDER:
        return GOOGLE_QUIC_ORDER.index(version)
    return len(GOOGLE_QUIC_ORDER)
