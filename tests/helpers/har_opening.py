"""One object of a record, for tests: the first request of a page, answered over QUIC."""

import base64
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

MESSAGE: dict[str, Any] = {
    "request_fields": [
        ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
        ("cookie", "a=1; session=x=y"),
        ("cookie", "b=2"),
    ],
    "request_body": None,
    "status_text": "",
    "response_fields": [
        ("content-encoding", "br"),
        ("content-length", "4270"),
        ("content-type", "text/html; charset=utf-8"),
        ("set-cookie", "id=7; Path=/; Expires=Wed, 09-Jun-2027 10:18:14 GMT; Secure; HttpOnly"),
        ("set-cookie", "plain=; expires=never"),
    ],
    "response_head_bytes": 40,
    "content_bytes": 9000,
}
"""The message kept beside the record."""

CONTENT_OF_PAGE = {
    "size": 9000,
    "encoding": "base64",
    "text": base64.b64encode(b"x" * 9000).decode(),
    "mimeType": "text/html",
    "comment": "",
}
"""The recorded answer's content."""
