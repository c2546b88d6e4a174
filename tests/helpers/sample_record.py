"""A small record that keeps the schema: what tests and examples start from."""

from typing import Any

from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME
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
        "network_settings": NETWORKS_BY_NAME["dsl"].settings(),
        "stack_preset": stack,
        "stack_settings": STACKS_BY_NAME["quic" if stack.startswith("quic") else "tcp"].settings(),
        "stack": stack,
        "browser": Browser(timeout_s=180.0).stated(),
        "block": f"{site}/{network}/{repetition}",
        "repetition": repetition,
        "position": position,
        "seed": repetition,
    }
    trial["hash"] = hash_of_key(trial)
    return {
        "version": RECORD_VERSION,
        "trial": trial,
        "outcome": outcome,
        "outcome_detail": outcome_detail,
        "started_at": "2026-11-21T09:00:00Z",
        "navigation": sample_navigation(page_load_time_ms) if outcome == "ok" else None,
        "objects": [],
        "requests": [],
        "connections": [],
        "path": None,
        "cross_traffic": None,
        "host": dict(QUIET_HOST),
        "browser": {"final_picture": None},
        "versions": {"eyelevel": "0.1.0", "browser": "Chromium/156", "kernel": "6.1"},
        "frames": [],
    }


QUIET_HOST = {
    "cpu_steal_share": 0.0,
    "cpu_busy_share": 0.2,
    "cpu_foreign_share": 0.0,
    "cpu_pressure_share": 0.0,
    "cpu_pressure_of": "machine",
    "wall_ms": 3000.0,
    "waited_for_host_ms": 0.0,
}

IN_FORCE: dict[str, Any] = dict.fromkeys(
    (
        "congestion_control",
        "pacing_rate_bytes_s_max",
        "pacing_rate_bytes_s",
        "pacing_rate_bytes_s_start",
        "initial_window_packets",
        "retransmitted_packets",
        "sent_packets",
        "sent_bytes",
        "received_bytes",
        "first_flight_packets",
        "first_flight_ms",
        "handshake_sent_bytes",
        "handshake_received_bytes",
        "resumed",
        "early_data_offered",
        "early_data_accepted",
        "request_head_bytes",
        "response_head_bytes",
        "request_table_bytes",
        "response_table_bytes",
        "priority_updates",
        "slow_start_after_idle",
        "send_buffer_bytes",
        "receive_window_bytes",
        "receive_window_limited_ms",
        "send_buffer_limited_ms",
        "unsent_bytes_max",
        "rtt_ms_min",
        "rtt_ms_smoothed",
        "tls_version",
        "cipher",
        "key_exchange",
    )
)
"""The values in force that every connection reports, over TCP and QUIC; null if unreadable."""


def sample_navigation(page_load_time_ms: float | None = 1000.0, **changed: Any) -> dict[str, Any]:
    """The page's own timings; `changed` by name."""
    return {
        "page_load_time_ms": page_load_time_ms,
        "time_to_first_byte_ms": 100.0,
        "first_contentful_paint_ms": 300.0,
        "dom_content_loaded_ms": 500.0,
        "first_paint_ms": 300.0,
        "largest_contentful_paint_ms": 400.0,
        "largest_contentful_paint_element": "p",
        "largest_contentful_paint_url": None,
        "largest_contentful_paint_loaded_ms": None,
        "cumulative_layout_shift": 0.0,
        "long_tasks_ms": None,
        "timer_gaps_ms": [],
        "documents": 1,
        **changed,
    }


def sample_object(**changed: Any) -> dict[str, Any]:
    """One object over an open connection; `changed` by name."""
    return {
        "url": "https://a.example/",
        "method": "GET",
        "resource_type": "Document",
        "protocol": "h2",
        "status": 200,
        "started_ms": 1.0,
        "lookup_ms": None,
        "connect_ms": None,
        "tls_ms": None,
        "sending_ms": 2.0,
        "sent_ms": 3.0,
        "response_ms": 50.0,
        "finished_ms": 60.0,
        "encoded_bytes": 1000,
        "from": "network",
        "render_blocking": None,
        "in_main_frame": True,
        "initiator_type": "other",
        "mime_type": "text/html",
        "priority": "VeryHigh",
        "connection": 0,
        "address": "192.0.2.1:443",
        "failed": None,
        **changed,
    }


def sample_request(**changed: Any) -> dict[str, Any]:
    """A server's event of one answer; `changed` by name."""
    return {
        "event": "request",
        "at_ns": 0,
        "protocol": "h2",
        "method": "GET",
        "url": "https://a.example/",
        "head_bytes": 300,
        "status": 200,
        "match": "exact",
        "body_bytes": 1000,
        "server_us": 40,
        "priority": "u=0, i",
        "think_ms": 0.0,
        "connection": 0,
        **changed,
    }


def sample_connection(
    number: int = 0, accepted_at_ns: int = 0, protocol: str = "h2", **in_force: Any
) -> dict[str, Any]:
    """A server's event of one connection, with its marks; `in_force` where it is not null."""
    unmarked = {"not_ect": 40, "ect0": 0, "ect1": 0, "ce": 0, "marked": 0}
    return {
        "event": "connection",
        "at_ns": accepted_at_ns,
        "connection": number,
        "protocol": protocol,
        "accepted_at_ns": accepted_at_ns,
        "ready_at_ns": None,
        "address": "192.0.2.1:443",
        "client": "100.64.0.2:50000",
        "in_force": IN_FORCE | in_force,
        "ecn": {"down": unmarked, "up": unmarked},
    }
