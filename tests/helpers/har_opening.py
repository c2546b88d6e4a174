"""One object of a record, for tests: the first request of a page, answered over QUIC."""

from typing import Any

OPENING: dict[str, Any] = {
    "url": "https://a.example/?q=1&empty=",
    "method": "GET",
    "protocol": "h3",
    "status": 200,
    "started_ms": 2.0,
    "lookup_ms": (5.0, 15.0),
    "connect_ms": (16.0, 66.0),
    "tls_ms": (16.0, 66.0),
    "sending_ms": 67.0,
    "sent_ms": 68.0,
    "response_ms": 120.0,
    "finished_ms": 150.5,
    "encoded_bytes": 4321,
    "resource_type": "Document",
    "render_blocking": None,
    "in_main_frame": True,
    "initiator_type": "other",
    "mime_type": "text/html",
    "priority": "VeryHigh",
    "connection": 7,
    "address": "[2001:db8::1]:443",
    "failed": None,
    "from": "network",
}
