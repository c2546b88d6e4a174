"""The schema of a record (`record.json.gz`, spec/run-record.md) and its version.

The objects with raw observations allow further keys, so that a new observation does not break old
readers. The record's own keys and the trial's are a closed list.

Observations copied into a record from the lab (events and summary) and the browser.

The types have the keys that are read, with their checks; further keys are allowed.
`spec/lab-events.md` and `spec/run-record.md` list all of them.
"""

from collections.abc import Sequence
from typing import Literal, NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict

from eyelevel.base.json_types import JsonObject
from eyelevel.store.hashing import content_hash
from eyelevel.store.values import (
    CLOSED,
    OBSERVED,
    Count,
    Instant,
    Integer,
    Milliseconds,
    Nanoseconds,
    Number,
    OutcomeName,
    Scalar,
    Shades,
    Span,
    TimeMs,
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
    early_hints: NotRequired[bool]  # only if true


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
    """The delays with which the path read packets."""

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
class BrowserReport(TypedDict):
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


RECORD_VERSION = 1


@with_config(CLOSED)
class TrialKey(TypedDict):
    """Key of the record's trial: everything that determines it."""

    hash: str
    site: str
    site_digest: str
    network: str
    network_settings: NetworkSettings
    stack_preset: str
    stack_settings: StackSettings
    stack: str
    variant: NotRequired[str]  # only if the plan has variants
    browser: BrowserSettings
    block: str
    repetition: Count
    position: Count
    seed: Integer


@with_config(OBSERVED)
class Navigation(TypedDict):
    """The page's own timings from navigation start; null if the event did not occur."""

    page_load_time_ms: Milliseconds | None
    time_to_first_byte_ms: Milliseconds | None
    first_contentful_paint_ms: Milliseconds | None
    dom_content_loaded_ms: Milliseconds | None
    first_paint_ms: Milliseconds | None
    largest_contentful_paint_ms: Milliseconds | None
    largest_contentful_paint_element: str | None
    largest_contentful_paint_url: str | None
    largest_contentful_paint_loaded_ms: Milliseconds | None
    cumulative_layout_shift: Number | None
    long_tasks_ms: Sequence[Span] | None
    timer_gaps_ms: Sequence[Span]
    user_timings: NotRequired[dict[str, Milliseconds]]  # older records have none
    documents: Count


# One object of the page, from the browser's network events; `from` is a Python keyword.
LoadedObject = TypedDict(
    "LoadedObject",
    {
        "url": Url,
        "method": str,
        "resource_type": str,
        "protocol": str | None,
        "status": Integer | None,
        "started_ms": TimeMs,
        "lookup_ms": Span | None,
        "connect_ms": Span | None,
        "tls_ms": Span | None,
        "sending_ms": TimeMs | None,
        "sent_ms": TimeMs | None,
        "response_ms": TimeMs | None,
        "finished_ms": TimeMs | None,
        "encoded_bytes": Count,
        "from": str,
        "render_blocking": str | None,
        "in_main_frame": bool | None,
        "initiator_type": str | None,
        "mime_type": str | None,
        "priority": str | None,
        "connection": Integer | None,
        "address": str | None,
        "failed": str | None,
        "from_early_hints": NotRequired[bool],  # only if true
    },
)
with_config(OBSERVED)(LoadedObject)


@with_config(OBSERVED)
class FrameEntry(TypedDict):
    """A frame's display time, and its image's index in the frames file."""

    at_ms: TimeMs
    index: Count


@with_config(OBSERVED)
class InteractionEntry(TypedDict):
    """A click or a key (Event Timing); `at_ms` from navigation start."""

    event: str
    at_ms: TimeMs
    input_delay_ms: Milliseconds
    processing_ms: Milliseconds
    duration_ms: Milliseconds


@with_config(OBSERVED)
class StepEntry(TypedDict):
    """One step after the load; times from navigation start."""

    step: str
    started_ms: TimeMs
    ended_ms: TimeMs
    documents: Count
    load_event_ms: TimeMs | None
    first_contentful_paint_ms: TimeMs | None
    capped: bool
    final_picture_matches: bool | None
    failed: str | None
    interactions: NotRequired[list[InteractionEntry]]  # only if there was one
    interaction_count: NotRequired[Count]
    objects: list[LoadedObject]
    frames: list[FrameEntry]


@with_config(OBSERVED)
class Suspension(TypedDict):
    """A suspended process of the load; its duration is unknown if it ran outside the lab."""

    process: str
    at_ns: Nanoseconds | None
    ms: Milliseconds | None


@with_config(OBSERVED)
class Host(TypedDict):
    """State of the machine during the load, and the durations of the trial and its wait.

    If a lab was built, it also has the lab's report about itself and our servers' CPU time; for a
    run on a cluster, the machine's id and the slot.
    """

    cpu_steal_share: Number
    cpu_busy_share: Number
    cpu_pressure_share: Number | None
    cpu_pressure_of: str
    wall_ms: Milliseconds
    waited_for_host_ms: Milliseconds
    cpu_foreign_share: NotRequired[Number]
    server_cpu_s: NotRequired[Number | None]
    browser_cores: NotRequired[Count]
    suspended: NotRequired[Sequence[Suspension] | None]
    machine: NotRequired[str]
    slot: NotRequired[Count]


@with_config(CLOSED)
class FailedAttempt(TypedDict):
    """A failed attempt at the trial, before the recorded one."""

    outcome: OutcomeName
    outcome_detail: str
    started_at: NotRequired[Instant]
    navigation: NotRequired[Navigation | None]
    host: NotRequired[Host]


@with_config(OBSERVED)
class LiveSeen(TypedDict):
    """The record's account of a live build during the load (spec/run-record.md)."""

    url: str
    others: Literal["blocked", "recorded"]
    server_cpu_s: Number | None
    requests: Count
    fields_rewritten: Count
    names_rewritten: Count
    bodies_unsearched: Count
    upgrades_refused: Count
    document_sha256: str | None
    failed: Count
    failure: str | None


@with_config(OBSERVED)
class HintLeftOut(TypedDict):
    """A render-blocking object that Early Hints did not name."""

    url: Url
    reason: str


@with_config(OBSERVED)
class EarlyHintsSeen(TypedDict):
    """The page's Early Hints: what they named, and whether the browser took them in."""

    hinted: list[Url]
    left_out: list[HintLeftOut]
    received: bool


@with_config(CLOSED)
class Record(TypedDict):
    """One trial's raw observations and its outcome."""

    version: Literal[1]
    trial: TrialKey
    outcome: OutcomeName
    outcome_detail: str
    started_at: Instant
    navigation: Navigation | None
    objects: list[LoadedObject]
    requests: list[Request]
    connections: list[Connection]
    path: PathSummary | None
    cross_traffic: CrossTrafficSeen | None
    host: Host
    browser: BrowserReport
    versions: Versions
    frames: list[FrameEntry]
    after_load: NotRequired[list[StepEntry]]  # only if the plan has steps
    early_hints: NotRequired[EarlyHintsSeen]  # only if the stack has them
    live: NotRequired[LiveSeen]  # only if a live build answered
    retried: NotRequired[list[FailedAttempt]]  # only if an earlier attempt failed


# Dictionaries validated in compiled code: a study has 150,000 records to read.
RECORD: TypeAdapter[Record] = TypeAdapter(Record)


def trial_hash(
    *,
    site_digest: str,
    network: str,
    network_settings: JsonObject,
    stack_settings: JsonObject,
    stack: str,
    repetition: int,
    seed: int,
    browser: JsonObject,
) -> str:
    """Return the hash that identifies a trial, over everything that determines it.

    The names of network and stack are part of it, so that two names for the same settings (an A/A
    test) stay two trials.
    """
    return content_hash(
        {
            "stack": stack,
            "browser": browser,
            "network": network,
            "network_settings": network_settings,
            "record_version": RECORD_VERSION,
            "repetition": repetition,
            "seed": seed,
            "site_digest": site_digest,
            "stack_settings": stack_settings,
        }
    )


def hash_of_key(trial: JsonObject) -> str:
    """Return the hash that a record's `trial` must have, computed from its other keys."""
    names = (
        "site_digest",
        "network",
        "network_settings",
        "stack_settings",
        "stack",
        "repetition",
        "seed",
        "browser",
    )
    return trial_hash(**{name: trial[name] for name in names})
