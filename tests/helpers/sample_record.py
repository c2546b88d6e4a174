"""A small record that keeps the schema: what tests and examples start from."""

from typing import Any

from eyelevel.store.schema import RECORD_VERSION, hash_of_key


def sample_record(
    *,
    site: str = "example",
    network: str = "dsl",
    stack: str = "tcp",
    repetition: int = 1,
    position: int = 1,
    outcome: str = "ok",
    outcome_detail: str = "",
    page_load_time_ms: float | None = 1000.0,
) -> dict[str, Any]:
    """One record of a made-up load; every trial that the arguments tell apart has its own hash."""
    trial: dict[str, Any] = {
        "site": site,
        "site_digest": f"sha256:{site}",
        "network": network,
        "network_settings": {"rtt_ms_min": 24},
        "stack_preset": stack,
        "stack_settings": {"http_version": "h3" if stack.startswith("quic") else "h2"},
        "stack": stack,
        "browser": {"capture": True, "timeout_s": 180},
        "block": f"{site}/{network}/{repetition}",
        "repetition": repetition,
        "position": position,
        "seed": repetition,
    }
    trial["hash"] = hash_of_key(trial)
    navigation = {
        "page_load_time_ms": page_load_time_ms,
        "time_to_first_byte_ms": 100.0,
        "first_contentful_paint_ms": 300.0,
        "dom_content_loaded_ms": 500.0,
    }
    return {
        "version": RECORD_VERSION,
        "trial": trial,
        "outcome": outcome,
        "outcome_detail": outcome_detail,
        "started_at": "2026-11-21T09:00:00Z",
        "navigation": navigation if outcome == "ok" else None,
        "objects": [],
        "requests": [],
        "connections": [],
        "path": None,
        "host": {},
        "browser": {},
        "versions": {},
        "frames": [],
    }
