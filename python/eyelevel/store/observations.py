"""Observations copied into a record from the lab (events and summary) and the browser.

The types have the keys that are read, with their checks; further keys are allowed.
`spec/lab-events.md` and `spec/run-record.md` list all of them.
"""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eyelevel.store.values import (
    OBSERVED,
    Count,
    Integer,
    Milliseconds,
    Nanoseconds,
    Number,
    Scalar,
    Shades,
    Url,
)


@with_config(OBSERVED)
class Request(TypedDict):
    """A request as answered by a server of the lab."""

    at_ns: Nanoseconds
    method: str
    url: Url
    status: Integer
    match: str
    head_bytes: Count
    body_bytes: Count
    server_us: Number
    priority: str | None
    connection: Integer


@with_config(OBSERVED)
class InForce(TypedDict):
    """Settings in force on one connection, from the kernel or the QUIC stack.

    A value is null if it is unreadable.
    """

    congestion_control: str | None
    pacing_rate_bytes_s_max: Number | None
    pacing_rate_bytes_s: Number | None
    pacing_rate_bytes_s_start: Number | None
    initial_window_packets: Count | None
    retransmitted_packets: Count | None
    sent_packets: Count | None
    sent_bytes: Count | None
    received_bytes: Count | None
    first_flight_packets: Count | None
    first_flight_ms: Milliseconds | None
    handshake_sent_bytes: Count | None
    handshake_received_bytes: Count | None
    resumed: bool | None
    early_data_offered: bool | None
    early_data_accepted: bool | None
    request_head_bytes: Count | None
    response_head_bytes: Count | None
    request_table_bytes: Count | None
    response_table_bytes: Count | None
    priority_updates: Count | None
    slow_start_after_idle: bool | None
    send_buffer_bytes: Count | None
    receive_window_bytes: Count | None
    receive_window_limited_ms: Milliseconds | None
    send_buffer_limited_ms: Milliseconds | None
    unsent_bytes_max: Count | None
    rtt_ms_min: Milliseconds | None
    rtt_ms_smoothed: Milliseconds | None
    tls_version: str | None
    cipher: str | None
    key_exchange: str | None
    encoder_received_bytes: NotRequired[Count | None]
    encoder_sent_bytes: NotRequired[Count | None]
    failure: NotRequired[str]


@with_config(OBSERVED)
class Connection(TypedDict):
    """A connection as seen by its server."""

    connection: Integer
    protocol: str
    accepted_at_ns: Nanoseconds
    ready_at_ns: Nanoseconds | None
    address: str | None
    in_force: InForce


@with_config(OBSERVED)
class Arrival(TypedDict):
    """How late the path read packets."""

    lateness_us_p99: Number | None
    lateness_us_max: Number | None


@with_config(OBSERVED)
class Timeline(TypedDict):
    """Bytes that left one direction of the path, and bytes inside it, by interval."""

    start_ns: Nanoseconds
    interval_ms: Milliseconds
    released_bytes: list[Count]
    inside_bytes_max: list[Count]


@with_config(OBSERVED)
class Direction(TypedDict):
    """Counters of one direction of the path."""

    packets: Count
    lateness_us_p99: Number | None
    lateness_us_max: Number | None
    arrival: Arrival
    timeline: NotRequired[Timeline | None]  # absent if no packet arrived


@with_config(OBSERVED)
class PathSummary(TypedDict):
    """Counters of both directions of the path."""

    down: Direction
    up: Direction


@with_config(OBSERVED)
class Flow(TypedDict):
    """One transfer that shared the path with the page."""

    congestion_control: str
    direction: str
    goodput_bit_s: Number | None


@with_config(OBSERVED)
class FlowsLoad(TypedDict):
    """Shares of the page and of the transfers while the page loaded."""

    page_share: Number | None


@with_config(OBSERVED)
class CrossTrafficSeen(TypedDict):
    """The transfers that ran alongside the page."""

    flows: list[Flow]
    fairness_index: dict[str, Number | None]
    load: FlowsLoad | None


@with_config(OBSERVED)
class BrowserSaid(TypedDict):
    """The browser's report on the load and itself, and the last frame in shades of grey."""

    final_picture: Shades | None
    navigation_start_ns: NotRequired[Nanoseconds | None]
    effective_connection_type: NotRequired[str | None]
    console_errors: NotRequired[list[str]]
    cpu_s: NotRequired[Number | None]
    wall_ms: NotRequired[dict[str, Scalar]]


@with_config(OBSERVED)
class Versions(TypedDict):
    """Versions of the programs that made the record."""

    eyelevel: str
    browser: str
    kernel: str


@with_config(OBSERVED)
class NetworkSettings(TypedDict):
    """Settings of the network in force that are read; its hash covers all of them."""

    rate_down_bit_s: Count


@with_config(OBSERVED)
class ServerSettings(TypedDict):
    """Settings of an external server that are read."""

    protocols: list[str]


@with_config(OBSERVED)
class StackSettings(TypedDict):
    """Settings of the stack in force that are read."""

    external_server: ServerSettings | None


@with_config(OBSERVED)
class BrowserSettings(TypedDict):
    """Settings of the browser in force that are read."""

    visit: str
    timeout_s: Number
