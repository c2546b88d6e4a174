"""Check that a connection's header tables have the sizes of the stack."""

from collections.abc import Iterable, Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.load.rules.first_flight import came_with_handshake
from eyelevel.plan.stacks import Stack

TABLES = ("request_table_bytes", "response_table_bytes")


def takes_tables(connections: Iterable[JsonMapping]) -> bool:
    """Return whether the client used a table for requests on any of a load's connections."""
    return any(each["in_force"]["request_table_bytes"] for each in connections)


def wrong_header_tables(
    stack: Stack, connection: JsonMapping, requests: Sequence[JsonMapping], *, is_taken: bool
) -> str:
    """Return a wrong table size as a sentence; empty if all are right.

    Only a connection with `requests` reports its tables. `is_taken`: the result of `takes_tables`
    for the load. If true, a connection may lack a table if all its requests came with the end of
    its handshake: over QUIC a client may use a table only after our SETTINGS (RFC 9204, section
    3.2.3), which may be lost, as in 2 of 90 loads of `agency` (docs/decisions/0016-http3.md). Such
    loads are the slow ones, and must not be left out.

    A browser that uses smaller tables than offered over one protocol alone makes the stacks differ.
    It may use fewer blocked streams, as Firefox does: HPACK has none.
    """
    in_force = connection["in_force"]
    wanted = stack.header_table_bytes
    if wanted is not None:
        for name in TABLES:
            seen = in_force[name]
            if (
                name == TABLES[0]
                and seen == 0
                and is_taken
                and came_with_handshake(connection, requests)
            ):
                continue
            if seen is not None and seen != wanted:
                return f"{name} was {seen}, not {wanted}"
    blocked, seen = stack.blocked_streams_max, in_force.get("blocked_streams_max")
    if blocked is not None and seen is not None and seen > blocked:
        return f"blocked_streams_max was {seen}, more than {blocked}"
    return ""
