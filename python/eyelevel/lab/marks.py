"""Which ECN bits packets came to the path with: its counts, given to the servers' connections."""

from collections.abc import Iterable, Mapping
from typing import Any


def with_marks(
    connections: Iterable[Mapping[str, Any]], path: Mapping[str, Any]
) -> tuple[tuple[Mapping[str, Any], ...], dict[str, Any]]:
    """The connections, each with `ecn` (null where the path had none of its packets), and the path
    without the counts by connection: what is left in it are sums."""
    counted = {
        (each["protocol"], each["client"], each["server"]): {
            way: each[way] for way in ("down", "up")
        }
        for each in path.get("connections", ())
    }

    def marked(connection: Mapping[str, Any]) -> Mapping[str, Any]:
        transport = "udp" if connection["protocol"] == "h3" else "tcp"
        ends = (transport, connection.get("client"), connection.get("address"))
        return {**connection, "ecn": counted.get(ends)}

    rest = {name: value for name, value in path.items() if name != "connections"}
    return tuple(map(marked, connections)), rest
