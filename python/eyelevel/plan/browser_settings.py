"""How every load of a plan is driven and watched."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from eyelevel.networks.network import Network
from eyelevel.plan.connection_type import ConnectionTypeSetting
from eyelevel.plan.devices import Device
from eyelevel.plan.stacks import Stack, Visit, Visitor
from eyelevel.plan.time_limit import LIMIT_S_MIN, time_limit_s

BrowserName = Literal["chromium", "firefox"]
ColorScheme = Literal["light", "dark"]
LogKind = Literal["qlog", "pcap", "tcp-info"]
"""Logs of connections and packets, as their field names them."""

CPU_SLOWDOWN_MAX = 20.0
"""Beyond it, loads last minutes and say nothing that a person would wait for."""

HOST_PATTERN = r"^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"
"""A blocked host: its name alone, or `*.` and a name for all below it."""


@dataclass(frozen=True)
class BrowserSettings:
    """Of the loads of a plan; defaults are those of a plan file."""

    capture: bool = True
    timeout_s: float = LIMIT_S_MIN
    timeout_given: bool = False
    """Whether the plan gives it. Else a load gets longer where its page's bytes need it."""
    same_requests: bool = True
    visit: Visit = "first"
    """Of the stacks that do not say their own, as are the next two."""
    visitor: Visitor = "first"
    effective_connection_type: ConnectionTypeSetting = "network"
    """Chromium's alone."""
    browser: BrowserName = "chromium"
    device: Device | None = None
    """None: the viewport of each recording."""
    color_scheme: ColorScheme = "light"
    javascript: bool = True
    blocked_hosts: tuple[str, ...] = ()
    cpu_slowdown: float = 1.0
    netlog: bool = False
    trace: bool = False
    after_load: tuple[str, ...] = ()
    """Steps as `eyelevel.plan.steps` reads them."""
    logs: tuple[LogKind, ...] = ()
    longest_prefix: bool = False
    """Of the replay: answer with the longest common prefix where nothing better was recorded."""

    def refusal(self) -> tuple[str, str] | None:
        """The key that the browser cannot have, and why; None where it can have all."""
        if self.browser == "chromium":
            return None
        if self.cpu_slowdown != 1:
            return "cpu_slowdown", (
                "`cpu_slowdown`: Firefox has no way to slow a page's scripts down; set it to 1 "
                "(a phone's device has one of its own), or use Chromium"
            )
        if self.effective_connection_type != "network":
            return "effective_connection_type", NO_ESTIMATE
        for key in ("netlog", "trace"):
            if getattr(self, key):
                return key, f"`{key}`: a log of Chromium's; Firefox has none like it"
        return None

    def limit_s(self, body_bytes: float, network: Network) -> float:
        """After how long a load of a page with so many bytes ends as `timeout`."""
        return self.timeout_s if self.timeout_given else time_limit_s(body_bytes, network)

    def refused_stack(self, stack: Stack) -> str | None:
        """Why browser or replay cannot measure with `stack`; None where they can."""
        if self.longest_prefix and stack.server is not None:
            return (
                f"`{stack.name}`: `longest_prefix` is our servers'; somebody else's answers by its "
                "own rules"
            )
        visit = stack.visit or self.visit
        if visit != "first" and stack.visitor == "first":
            return (
                f"`{stack.name}`: a {visit} visit is no first visitor's; drop `visitor`, or `visit`"
            )
        if self.browser == "firefox" and stack.effective_connection_type is not None:
            return f"`{stack.name}`: {NO_ESTIMATE}"
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
        resumes_quic = stack.http_version == "h3" and visit == "repeat"
        if self.browser == "firefox" and resumes_quic and not stack.early_data:
            return (
                f"`{stack.name}`, a repeat visit: Firefox resumes a QUIC session only where the "
                "servers take early data; write `early_data = true` (`quic+0rtt`) or "
                '`visit = "warm"`, or use Chromium'
            )
        return None

    def settings(self) -> dict[str, Any]:
        """As a plan's and a trial's documents have them.

        What came later than the first three stands there only where it is used, so that the hashes
        of earlier plans and trials hold.
        """
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _FIRST or value != field.default:
                found[field.name] = value
        if self.device is not None:
            found["device"] = self.device.settings()
        for name in ("blocked_hosts", "after_load", "logs"):
            if name in found:
                found[name] = list(found[name])
        return found


NO_ESTIMATE = (
    "`effective_connection_type`: Chromium's; Firefox estimates no network and holds nothing back "
    "for one; leave it out"
)

_FIRST = ("capture", "timeout_s", "same_requests")


def browser_settings(
    *, device: Device | None, cpu_slowdown: float | None, **given: Any
) -> BrowserSettings:
    """The settings with the device's slow-down where no other is given."""
    if cpu_slowdown is None:
        cpu_slowdown = device.cpu_slowdown if device is not None else 1.0
    return BrowserSettings(device=device, cpu_slowdown=cpu_slowdown, **given)
