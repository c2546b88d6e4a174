"""Whether a connection's header tables are those of the stack."""

from eyelevel.json_types import JsonMapping
from eyelevel.plan.stacks import Stack

TABLES = ("request_table_bytes", "response_table_bytes")


def wrong_header_tables(stack: Stack, in_force: JsonMapping) -> str:
    """What is otherwise, in a sentence; for connections with a request, others tell of none.

    A browser that takes less than it is offered over one protocol alone makes stacks unlike. Fewer
    blocked streams it may offer, as Firefox does: HPACK has none.
    """
    wanted = stack.header_table_bytes
    if wanted is not None:
        for name in TABLES:
            seen = in_force[name]
            if seen is not None and seen != wanted:
                return f"{name} was {seen}, not {wanted}"
    blocked, seen = stack.blocked_streams_max, in_force.get("blocked_streams_max")
    if blocked is not None and seen is not None and seen > blocked:
        return f"blocked_streams_max was {seen}, more than {blocked}"
    return ""
