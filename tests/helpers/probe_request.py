"""The prober's requests in tests."""

from pathlib import Path
from typing import Any

ATTEMPTS = 8


def config(address: str, authority: Path, **changes: Any) -> dict[str, Any]:
    target = {"host": "lab", "port": 443, "path": "/", "connect": address}
    return {
        "targets": [target],
        "protocols": ["quic"],
        "v4": True,
        "v6": True,
        "count": ATTEMPTS,
        "interval_ms": 10,
        "timeout_ms": 10_000,
        "resume_session": False,
        "early_data": False,
        "local_port": None,
        "resolver": None,
        "authority_file": str(authority),
        "vantage": "lab",
        "user_agent": "eyelevel test",
        "seed": 1,
    } | changes
