"""Browser settings of a plan, declared once (see `eyelevel.base.settings`).

Devices that a browser can emulate, as one table.
"""

import re
from dataclasses import dataclass, fields, replace
from typing import Annotated, Literal

from annotated_types import Ge, Le, MaxLen, MinLen

from eyelevel.base.errors import unknown
from eyelevel.base.json_types import JsonObject
from eyelevel.base.settings import LISTED, About, AgeS, Checked, DurationS, Settings
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import ConnectionType, ConnectionTypeSetting, Stack, Visit, Visitor
from eyelevel.plan.steps import (
    INTERACTION_METRIC,
    STEPS_MAX,
    Step,
    has_interaction,
    parse_step,
)
from eyelevel.plan.time_limit import LIMIT_S_MIN, time_limit_s


@dataclass(frozen=True)
class Device(Settings):
    """A device as seen by a page: screen, touch, and the speed of scripts."""

    name: str
    viewport_px: Annotated[tuple[int, int], LISTED]
    """Width and height, CSS pixels."""
    device_scale: float
    """Device pixels per CSS pixel."""
    mobile: bool
    """Whether it has touch, a mobile viewport and a mobile user agent."""
    model: str
    """Model in client hints, if a server requests them; "" for none."""
    slowdown: float
    """Factor by which scripts are slower than on this machine; a plan's `cpu_slowdown`
    overrides it.
    """

    def cells(self) -> dict[str, str]:
        """Return the device's row in tables, by heading."""
        return {
            "name": self.name,
            "viewport": "{} x {}".format(*self.viewport_px),
            "device scale": f"{self.device_scale:g}",
            "touch": "yes" if self.mobile else "no",
            "CPU slow-down": f"{self.slowdown:g} times",
        }


@dataclass(frozen=True)
class DevicePreset:
    """A device with its description and the source of its values."""

    title: str
    device: Device
    source: str


@dataclass(frozen=True)
class DeviceName:
    """Parses a device's name to the device; a name that no longer exists stays a text."""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> object:
        return Checked(_find_device).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, core: object, handler: object) -> object:
        return {"anyOf": [{"type": "string", "enum": list(DEVICES_BY_NAME)}, {"type": "null"}]}


def _find_device(value: object) -> object:
    if isinstance(value, str) and value not in DEVICES_BY_NAME:
        raise ValueError(unknown("device", value, DEVICES_BY_NAME))
    return DEVICES_BY_NAME[value].device if isinstance(value, str) else value


DEVICES: tuple[DevicePreset, ...] = (
    DevicePreset(
        "a laptop's window",
        Device("desktop", (1366, 768), 1.0, False, "", 1.0),
        "the default viewport of `eyelevel record`",
    ),
    DevicePreset(
        "Moto G Power, a mid-range phone",
        Device("moto-g", (412, 823), 1.75, True, "moto g power (2022)", 4.0),
        "the phone that Lighthouse and WebPageTest use, with Lighthouse's slow-down",
    ),
)

DEVICES_BY_NAME: dict[str, DevicePreset] = {each.device.name: each for each in DEVICES}


BrowserName = Literal["chromium", "firefox"]
ColorScheme = Literal["light", "dark"]
LogKind = Literal["qlog", "pcap", "tcp-info", "lab"]
"""Kinds of logs of connections and packets, as the plan's key `logs` names them."""

CACHE_AGE_S = 3600
"""The default age of a cached visit's cache."""

CPU_SLOWDOWN_MAX = 20.0
"""Maximum CPU slow-down: beyond it loads take minutes, longer than any user would wait."""

_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
"""A blocked host: its name only, or `*.` and a name for all hosts below it."""


def _host(value: object) -> object:
    """Validate a blocked host; the error suggests the host if it was given as a URL."""
    if isinstance(value, str) and not _HOST.fullmatch(value):
        bare = value.lower().partition("://")[2] or value.lower()
        bare = re.split(r"[/:?#]", bare)[0]
        hint = f"; write `{bare}`" if _HOST.fullmatch(bare) else ""
        raise ValueError(f"`{value}` is not a host, such as `ads.example` or `*.ads.example`{hint}")
    return value


FLAGS_ALLOWED = (
    "--enable-features",
    "--disable-features",
    "--enable-blink-features",
    "--disable-blink-features",
    "--force-fieldtrials",
)
"""Switches of Chromium that a plan may set; others can start programs, write files or leave the
lab (`--renderer-cmd-prefix`, `--host-resolver-rules`)."""
_FEATURES = re.compile(r"[A-Za-z0-9_<>:/.,*-]+")


def _flag(value: object) -> object:
    """Validate a switch of Chromium: one of `FLAGS_ALLOWED` with a value."""
    if isinstance(value, str):
        name, _, features = value.partition("=")
        if name not in FLAGS_ALLOWED:
            raise ValueError(unknown("switch of Chromium", name, FLAGS_ALLOWED))
        if not _FEATURES.fullmatch(features):
            raise ValueError(f"`{value}` names no features; write `{name}=NAME,NAME`")
    return value


def _step(value: object) -> object:
    return parse_step(value).text if isinstance(value, str) else value


def _drop_repeated(value: object) -> object:
    return list(dict.fromkeys(value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Browser(Settings):
    """Browser settings of a plan's loads, with the defaults of a plan file.

    A trial has the settings in force (`eyelevel.plan.in_force`).
    """

    browser: Annotated[
        BrowserName,
        About("`firefox` is Firefox ESR; docs/guides/browser.md lists what it cannot do"),
    ] = "chromium"
    capture: Annotated[bool, About("take frames of the page while it loads")] = True
    timeout_s: Annotated[
        DurationS | None,
        About(
            "a load that takes longer ends as `timeout`; by default 180 s, or more if the "
            "page's bytes need it",
            flag="--timeout",
        ),
    ] = None
    same_requests: Annotated[
        bool,
        About("fix the page's date and random numbers, so that all loads request the same URLs"),
    ] = True
    visit: Visit = "first"
    """Default for stacks without their own value, as for the next two settings."""
    cache_age_s: Annotated[
        AgeS | None,
        About(
            "with `visit = cached`: the time between the two visits, by which responses in the "
            "cache have aged; 1 h by default",
            flag="--cache-age",
        ),
    ] = None
    visitor: Visitor = "first"
    effective_connection_type: ConnectionTypeSetting = "network"
    device: Annotated[
        Device | None,
        DeviceName(),
        About(
            "emulate one of `eyelevel list devices`; by default as recorded",
            tried=("viewport", "mobile"),
        ),
    ] = None
    cpu_slowdown: Annotated[
        Annotated[float, Ge(1), Le(CPU_SLOWDOWN_MAX)] | None,
        About(
            "how many times slower the page's scripts run; by default the device's factor",
            tried=("cpu_throttling",),
        ),
    ] = None
    color_scheme: Annotated[
        ColorScheme,
        About(
            "the color scheme that the page is told its user prefers", tried=("dark", "dark_mode")
        ),
    ] = "light"
    javascript: Annotated[bool, About("whether the page's scripts run", tried=("js",))] = True
    blocked_hosts: Annotated[
        tuple[Annotated[str, Checked(_host)], ...],
        LISTED,
        About(
            "block requests to this host; `*.HOST` blocks all hosts below it",
            flag="--block",
            tried=("block",),
        ),
    ] = ()
    after_load: Annotated[
        tuple[Annotated[str, Checked(_step)], ...],
        MaxLen(STEPS_MAX),
        LISTED,
        About(
            "a step after the load, measured separately: `scroll end`, `scroll 800`, `click "
            "SELECTOR`, `type SELECTOR=TEXT`, `key Enter`, `script JAVASCRIPT`",
            tried=("interactions", "actions"),
        ),
    ] = ()
    chromium: Annotated[
        Annotated[str, MinLen(1)] | None,
        About("the executable of another build of Chromium", tried=("executable",)),
    ] = None
    chromium_flags: Annotated[
        tuple[Annotated[str, Checked(_flag)], ...],
        LISTED,
        About(
            "a switch of Chromium: `--enable-features=NAME`, `--disable-features=NAME`, the same "
            "of `-blink-features`, or `--force-fieldtrials=TRIAL/GROUP`",
            tried=("flags",),
        ),
    ] = ()
    netlog: Annotated[bool, About("keep Chromium's network log for each load")] = False
    trace: Annotated[bool, About("keep a Chromium trace of each load")] = False
    logs: Annotated[
        tuple[LogKind, ...],
        LISTED,
        Checked(_drop_repeated),
        About(
            "keep logs of each load's connections and packets: any of `qlog,pcap,tcp-info,lab`; "
            "pcap comes with the TLS keys, lab is the servers' debug log",
            separator=",",
        ),
    ] = ()
    longest_prefix: Annotated[
        bool,
        About("if nothing better was recorded, answer with the longest common prefix"),
    ] = False

    @property
    def is_chromium(self) -> bool:
        """Whether the browser is Chromium; otherwise it is Firefox."""
        return self.browser == "chromium"

    @property
    def is_installed_chromium(self) -> bool:
        """Whether it is the installed Chromium without a plan's switches, as levels are measured
        with."""
        return self.is_chromium and self.chromium is None and not self.chromium_flags

    @property
    def slowdown(self) -> float:
        """Factor by which scripts are slowed down."""
        if self.cpu_slowdown is not None:
            return self.cpu_slowdown
        return self.device.slowdown if self.device is not None else 1.0

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the user's steps after the load."""
        return tuple(parse_step(text) for text in self.after_load)

    @property
    def forced_connection_type(self) -> ConnectionType | None:
        """Return the connection type that Chromium is set to; None to let it estimate."""
        wanted = self.effective_connection_type
        return None if wanted == "network" or wanted == "measured" else wanted

    @property
    def limit_is_given(self) -> bool:
        """Whether the plan sets the time limit of loads itself."""
        return self.timeout_s is not None

    @property
    def limit_s(self) -> float:
        """Time limit of a trial's load, or the minimum time limit of a plan's loads, seconds."""
        return LIMIT_S_MIN if self.timeout_s is None else self.timeout_s

    def kept_logs(self) -> JsonObject:
        """Return the logs kept besides record and frames, by the key that requests each."""
        wanted = {"netlog": self.netlog, "trace": self.trace, "logs": self.logs}
        return {key: value for key, value in wanted.items() if value}

    @property
    def of_lab(self) -> bool:
        """Whether logs are requested that only a lab can write."""
        return bool(self.logs)

    @property
    def of_recording(self) -> bool:
        """Whether the settings change how requests are matched to a recording."""
        return self.longest_prefix

    @property
    def is_again(self) -> bool:
        """Whether an earlier load precedes the measured one."""
        return self.visit != "first" or self.visitor == "known"

    def refusal(self) -> tuple[str, str] | None:
        """Return the first key that the browser does not support, and why.

        Returns None if there is none.
        """
        if self.is_chromium:
            return None
        if self.slowdown != 1:
            return "cpu_slowdown", (
                "`cpu_slowdown`: Firefox cannot slow down a page's scripts; set it to 1 (a "
                "phone's device sets its own), or use Chromium"
            )
        if self.effective_connection_type != "network":
            return "effective_connection_type", NO_ESTIMATE
        for key in ("chromium", "chromium_flags"):
            if getattr(self, key):
                return key, f"`{key}`: this is Chromium's; leave it out, or use Chromium"
        for key in ("netlog", "trace"):
            if getattr(self, key):
                return key, (
                    f"`{key}`: this is a log of Chromium's; leave it out, since Firefox has "
                    "nothing like it"
                )
        if any(step.verb in ("key", "type") for step in self.steps):
            return "after_load", (
                "`after_load`: keys are pressed in Chromium alone; leave out steps with `key` and "
                "`type`, or use Chromium"
            )
        return None

    def find_refused_metric(self, metric: str) -> str | None:
        """Return why no load with these settings has `metric`; None if loads may have it."""
        if metric != INTERACTION_METRIC:
            return None
        if not self.is_chromium or not self.javascript:
            return (
                f'`{metric}` is read in Chromium, by a script; use `browser = "chromium"` and '
                "leave out `javascript = false`"
            )
        if not has_interaction(self.steps):
            return (
                f"`{metric}` needs an interaction after the load; name one in `after_load` "
                "(`--after-load`), like `click #menu`, `type #search=shoes` or `key Enter`"
            )
        return None

    def limit_of(self, body_bytes: float, network: Network) -> float:
        """Return the time limit, s, of a load of a page with this many body bytes."""
        return self.timeout_s or time_limit_s(body_bytes, network)

    def find_refused_stack(self, stack: Stack) -> str | None:
        """Return why browser or replay cannot measure `stack` with these settings.

        Returns None if they can.
        """
        if self.longest_prefix and not stack.is_ours:
            return (
                f"`{stack.name}`: only our servers have `longest_prefix`; an external server "
                "answers by its own rules"
            )
        visit = stack.visit or self.visit
        if visit == "cached" and not (self.is_chromium and stack.is_ours):
            return (
                f"`{stack.name}`: a cached visit needs Chromium, whose cache is kept, and our "
                "servers, which move the dates of responses; drop `visit`"
            )
        if visit != "cached" and self.cache_age_s is not None and stack.visit is None:
            return (
                f"`{stack.name}`: `cache_age_s` is a cached visit's, and this is a {visit} one; "
                'drop it, or write `visit = "cached"`'
            )
        if visit != "first" and stack.visitor == "first":
            return (
                f"`{stack.name}`: a {visit} visit is not a first visitor's; drop `visitor` "
                "or `visit`"
            )
        if not self.is_chromium and stack.effective_connection_type is not None:
            return f"`{stack.name}`: {NO_ESTIMATE}"
        if not self.is_chromium and stack.is_discovered:
            return f"`{stack.name}`: `discovery` is for Chromium only; drop it, or use Chromium"
        if not self.is_chromium and stack.has_early_hints:
            return (
                f"`{stack.name}`: only Chromium reports what it did with `early_hints`; drop it, "
                "or use Chromium"
            )
        if stack.early_data and visit != "repeat":
            return (
                f"`{stack.name}`: early data goes out on a repeat visit alone, with the first "
                'one\'s session tickets; write `visit = "repeat"` (of a load: `--visit repeat`)'
            )
        if stack.session_tickets is False and visit == "repeat":
            return (
                f"`{stack.name}`: a repeat visit resumes with the tickets that `session_tickets = "
                "false` keeps back; drop one of them"
            )
        resumes_quic = stack.over_quic and visit == "repeat"
        if not self.is_chromium and resumes_quic and not stack.early_data:
            return (
                f"`{stack.name}`, a repeat visit: Firefox resumes a QUIC session only where the "
                "servers take early data; write `early_data = true` (`quic+0rtt`) or "
                '`visit = "warm"`, or use Chromium'
            )
        return None


@dataclass(frozen=True)
class BrowserChange(Settings):
    """The browser settings in which a variant differs from its plan; None for those of the plan."""

    browser: BrowserName | None = None
    device: Annotated[Device | None, DeviceName()] = None
    cpu_slowdown: Annotated[float, Ge(1), Le(CPU_SLOWDOWN_MAX)] | None = None
    color_scheme: ColorScheme | None = None
    javascript: bool | None = None
    blocked_hosts: Annotated[tuple[Annotated[str, Checked(_host)], ...] | None, LISTED] = None
    chromium: Annotated[str, MinLen(1)] | None = None
    chromium_flags: Annotated[tuple[Annotated[str, Checked(_flag)], ...] | None, LISTED] = None

    def given(self) -> JsonObject:
        """Return the settings that it changes, by key."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in given.items() if value is not None}

    def apply_to(self, browser: Browser) -> Browser:
        """Return the plan's browser settings with the change."""
        return replace(browser, **self.given())

    def words(self) -> str:
        """Return the change in words, such as `device moto-g`."""
        return ", ".join(
            f"{name} {getattr(value, 'name', None) or _format_value(value)}"
            for name, value in self.given().items()
        )


def _format_value(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


NO_ESTIMATE = (
    "`effective_connection_type`: only Chromium has it; leave it out, since Firefox neither "
    "estimates a network nor delays requests for one"
)
