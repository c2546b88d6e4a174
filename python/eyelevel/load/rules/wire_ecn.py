"""Check that packets reached the path with the ECN bits of the stack."""

from collections.abc import Mapping, Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.stacks import Stack

CAPABLE = ("ect0", "ect1", "ce")
WAYS = ("down", "up")

QUIC_CAPABLE_SHARE_MIN = 0.9
"""The least share of a QUIC connection's packets that are ECT(0). noq marks all of them, but stops
if the client's acknowledgements do not report the marks. Over TCP pure acknowledgements and
retransmissions are Not-ECT."""


def wrong_ecn(
    stack: Stack,
    connections: Sequence[JsonMapping],
    requests: Sequence[JsonMapping],
    path: JsonMapping,
) -> str:
    """Return how packets differed from the stack's `ecn`, as a sentence; empty if they did not.

    Connections without a request of the load may have sent nothing that can be marked. The marks of
    external servers over QUIC are not judged.
    """
    quic = stack.over_quic
    if quic and not stack.is_ours:
        return ""
    if stack.ecn == "off":
        return _capable_though_off(connections, path)
    served = {request["connection"] for request in requests if "connection" in request}
    for connection in connections:
        over_quic = connection["protocol"] == "h3"
        if connection["connection"] not in served or over_quic != quic:
            continue
        if reason := _incapable_though_on(connection["ecn"], quic=quic):
            return f"connection {connection['connection']}: {reason}"
    return ""


def _capable_though_off(connections: Sequence[JsonMapping], path: JsonMapping) -> str:
    for way in WAYS:
        for connection in connections:
            if connection["ecn"] and (seen := capable(connection["ecn"][way])):
                return (
                    f"connection {connection['connection']}: {seen} packets {way} were ECN-capable"
                )
        if seen := capable(path[way]["ecn"]):
            return f"{seen} packets {way} were ECN-capable"
    return ""


def _incapable_though_on(ecn: JsonMapping | None, *, quic: bool) -> str:
    if ecn is None:
        return "the path knows none of its packets"
    if any(ecn[way]["ect1"] for way in WAYS):
        return "packets were ECT(1)"
    # A browser chooses its own marks over QUIC; they are in the record.
    for way in WAYS[:1] if quic else WAYS:
        share = capable_share(ecn[way])
        if not share or (quic and share < QUIC_CAPABLE_SHARE_MIN):
            return f"{share or 0:.0%} of its packets {way} were ECN-capable"
    return ""


def capable(counts: Mapping[str, int]) -> int:
    """Return the number of packets that a queue may mark, or that arrived marked."""
    return sum(counts[name] for name in CAPABLE)


def capable_share(counts: Mapping[str, int]) -> float | None:
    """Return the share of ECN-capable packets; None without packets."""
    every = counts["not_ect"] + capable(counts)
    return capable(counts) / every if every else None
