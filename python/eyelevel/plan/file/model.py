"""A plan file's shape: what its TOML may say (spec/plan.md), before names are resolved."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from eyelevel.lab_tables import LIMITS
from eyelevel.plan.browser_settings import (
    CPU_SLOWDOWN_MAX,
    HOST_PATTERN,
    BrowserName,
    ColorScheme,
    LogKind,
)
from eyelevel.plan.causes import Cause
from eyelevel.plan.connection_type import ConnectionTypeSetting
from eyelevel.plan.devices import DEVICES_BY_NAME
from eyelevel.plan.file.quantities import (
    DurationMs,
    DurationS,
    RateBitS,
    Share,
    SizeBytes,
    SizeOrNoneBytes,
)
from eyelevel.plan.stacks import (
    CertificateKey,
    CongestionControl,
    Ecn,
    HttpVersion,
    SproutHorizon,
    TlsVersion,
    Visit,
    Visitor,
)
from eyelevel.plan.steps import STEPS_MAX, parse_step

BLOCKS_MAX = 10_000  # far beyond any study; a typing error should not plan for years

# Letters, digits and the few signs that names of presets have: names stand in paths and tables.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+@-]{0,63}$")]


def _within(setting: str) -> Any:
    return Field(ge=LIMITS[setting].min, le=LIMITS[setting].max)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CrossTrafficTable(_Table):
    """Bulk transfers beside the page."""

    cc: Literal["cubic", "bbr", "reno"]
    flows: Annotated[int, _within("flows")] = 1
    direction: Literal["down", "up"] = "down"


def _kinds(value: Any) -> Any:
    """One table stands for a list of it, `none` for an empty one."""
    if value == "none":
        return []
    return [value] if isinstance(value, dict) else value


CrossTrafficTables = Annotated[list[CrossTrafficTable], BeforeValidator(_kinds)]


class NetworkTable(_Table):
    """A network: a preset's name as `base`, and what differs from it; or all of it."""

    name: Name | None = None
    base: str | None = None
    weight: Annotated[float, Field(gt=0, strict=False)] | None = None
    rate_down_bit_s: RateBitS | None = None
    rate_up_bit_s: RateBitS | None = None
    trace_down: str | None = None
    trace_up: str | None = None
    down: str | None = None
    up: str | None = None
    rtt_ms_min: DurationMs | None = None
    queue_ms: DurationMs | None = None
    loss_two_way: Share | None = None
    loss_down: Share | None = None
    loss_up: Share | None = None
    cross_traffic: CrossTrafficTables | None = None


class ServerTable(_Table):
    """A server that is not ours."""

    command: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    protocols: Annotated[list[HttpVersion], Field(min_length=1)]


class StackTable(_Table):
    """A stack: a preset's name as `base`, and what differs from it."""

    name: Name | None = None
    base: str | None = None
    http_version: HttpVersion | None = None
    congestion_control: CongestionControl | None = None
    initial_window_packets: Annotated[int, _within("initial_window_packets")] | None = None
    pacing: bool | None = None
    slow_start_after_idle: bool | None = None
    ecn: Ecn | None = None
    receive_window_bytes: Annotated[SizeBytes, _within("receive_window_bytes")] | None = None
    unsent_bytes_max: Annotated[SizeBytes, _within("unsent_bytes_max")] | None = None
    tls_record_bytes: Annotated[int, _within("tls_record_bytes")] | None = None
    quic_packet_bytes: Annotated[int, _within("quic_packet_bytes")] | None = None
    tls_version: TlsVersion | None = None
    probe_gain: Annotated[float, _within("probe_gain")] | None = None
    sprout_horizon: SproutHorizon | None = None
    header_table_bytes: Annotated[SizeOrNoneBytes, _within("header_table_bytes")] | None = None
    blocked_streams_max: Annotated[int, _within("blocked_streams_max")] | None = None
    early_data: bool | None = None
    priorities: bool | None = None
    certificate_key: CertificateKey | None = None
    certificate_chain_bytes: (
        Literal["recorded"] | Annotated[SizeBytes, _within("certificate_chain_bytes")] | None
    ) = None
    coalescing: bool | None = None
    think_time: (
        Literal["none", "recorded"] | Annotated[DurationMs, _within("think_time")] | None
    ) = None
    alt_svc: bool | None = None
    session_tickets: bool | None = None
    visit: Visit | None = None
    visitor: Visitor | None = None
    effective_connection_type: ConnectionTypeSetting | None = None
    server: ServerTable | None = None


class StopTable(_Table):
    """When to stop before all blocks are done: see `eyelevel.run.study.stopping`."""

    interval_width_max: Annotated[Share, Field(gt=0)]
    blocks_min: Annotated[int, Field(ge=2, le=BLOCKS_MAX)] = 5
    futility: bool = True


# A device that is not known is named with the nearest one; the schema lists them for editors.
DeviceName = Annotated[str, Field(json_schema_extra={"enum": list(DEVICES_BY_NAME)})]


def _host(value: Any) -> Any:
    """A host without what people copy with it from an address line."""
    if isinstance(value, str) and not re.fullmatch(HOST_PATTERN, value):
        bare = value.lower().partition("://")[2] or value.lower()
        bare = re.split(r"[/:?#]", bare)[0]
        hint = f"; write `{bare}`" if re.fullmatch(HOST_PATTERN, bare) else ""
        raise ValueError(f"`{value}` is no host, like `ads.example` or `*.ads.example`{hint}")
    return value


HostName = Annotated[str, BeforeValidator(_host), Field(pattern=HOST_PATTERN)]


def _step(value: Any) -> Any:
    return parse_step(value).text if isinstance(value, str) else value


StepText = Annotated[str, BeforeValidator(_step)]


def _preset(value: Any) -> Any:
    return {"base": value} if isinstance(value, str) else value


class PlanFile(_Table):
    """The whole file; defaults are part of `spec/plan.md`."""

    title: str = ""
    sites: Annotated[list[str], Field(min_length=1)]
    networks: Annotated[
        list[Annotated[NetworkTable, BeforeValidator(_preset)]], Field(min_length=1)
    ]
    stacks: Annotated[list[Annotated[StackTable, BeforeValidator(_preset)]], Field(min_length=1)]
    reference: str
    blocks: Annotated[int, Field(ge=1, le=BLOCKS_MAX)]
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    primary_metric: str = "speed_index_ms"
    smallest_effect_of_interest: Annotated[Share, Field(gt=0)] = 0.05
    capture: bool = True
    timeout_s: DurationS | None = None
    same_requests: bool = True
    visit: Visit = "first"
    visitor: Visitor = "first"
    effective_connection_type: ConnectionTypeSetting = "network"
    browser: BrowserName = "chromium"
    device: DeviceName | None = None
    cpu_slowdown: Annotated[float, Field(ge=1, le=CPU_SLOWDOWN_MAX, strict=False)] | None = None
    color_scheme: ColorScheme = "light"
    javascript: bool = True
    blocked_hosts: list[HostName] = []
    netlog: bool = False
    trace: bool = False
    after_load: Annotated[list[StepText], Field(max_length=STEPS_MAX)] = []
    logs: list[LogKind] = []
    longest_prefix: bool = False
    cross_traffic: CrossTrafficTables | None = None
    stop: StopTable | None = None
    causes: Annotated[list[Cause], Field(min_length=1)] | None = None
