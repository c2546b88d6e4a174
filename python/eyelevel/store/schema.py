"""The schema of `record.json` (spec/run-record.md) and its version.

The blocks that hold raw observations accept further keys: an observation more does not make an old
reader wrong. The record's own keys and the trial's are a closed list.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from eyelevel.store.hashing import content_hash
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

RECORD_VERSION = 1

OutcomeName = Literal[tuple(OUTCOMES_BY_NAME)]  # type: ignore[valid-type]
Milliseconds = Annotated[float, Field(ge=0)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Observed(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class TrialKey(_Closed):
    """Which trial the record is of; everything that determines it is in here."""

    hash: str
    site: str
    site_digest: str
    network: str
    network_settings: dict[str, Any]
    stack: str
    stack_settings: dict[str, Any]
    arm: str
    browser: dict[str, Any]
    block: str
    repetition: int
    position: int
    seed: int


class Navigation(_Observed):
    """The page's own timings from navigation start; null where it did not happen."""

    page_load_time_ms: Milliseconds | None
    time_to_first_byte_ms: Milliseconds | None
    first_contentful_paint_ms: Milliseconds | None
    dom_content_loaded_ms: Milliseconds | None


class LoadedObject(_Observed):
    """One object of the page, from the browser's network events."""

    url: str
    protocol: str | None
    status: int | None
    started_ms: float | None
    response_ms: float | None
    finished_ms: float | None
    encoded_bytes: int | None
    resource_type: str | None
    render_blocking: str | bool | None
    source: str | None = Field(alias="from")
    failed: str | None


class FrameEntry(_Observed):
    """When a frame appeared and which picture of the frames file it shows."""

    at_ms: float
    index: int


class Record(_Closed):
    """One trial's raw observations and its one outcome."""

    version: Literal[1]
    trial: TrialKey
    outcome: OutcomeName
    outcome_detail: str
    started_at: str
    navigation: Navigation | None
    objects: list[LoadedObject]
    requests: list[dict[str, Any]]
    connections: list[dict[str, Any]]
    path: dict[str, Any] | None
    host: dict[str, Any]
    browser: dict[str, Any]
    versions: dict[str, Any]
    frames: list[FrameEntry]


def trial_hash(
    *,
    site_digest: str,
    network: str,
    network_settings: dict[str, Any],
    stack_settings: dict[str, Any],
    arm: str,
    repetition: int,
    seed: int,
    browser: dict[str, Any],
) -> str:
    """The identity of a trial: the hash of everything that determines it.

    The names of network and arm are part of it, so that two names for the same settings (an A/A
    comparison) stay two trials.
    """
    return content_hash(
        {
            "arm": arm,
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


def hash_of_key(trial: dict[str, Any]) -> str:
    """The hash that a record's `trial` must carry, computed from its other keys."""
    names = (
        "site_digest",
        "network",
        "network_settings",
        "stack_settings",
        "arm",
        "repetition",
        "seed",
        "browser",
    )
    return trial_hash(**{name: trial[name] for name in names})
