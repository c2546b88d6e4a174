"""Start a Chromium with a debugging pipe, and end all of its processes.

The executable is started directly, not through Debian's wrapper: the wrapper is a shell script
whose `/etc/chromium.d` adds flags (remote extensions among them) that differ between machines, and
it costs time in every load.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.processes import BrowserProgram, browser_environment, find_program, move_high
from eyelevel.lab.confinement import is_unsafe

EXECUTABLES: tuple[str, ...] = (
    "/usr/lib/chromium/chromium",  # Debian: the binary behind the wrapper
    "/usr/lib64/chromium-browser/chromium-browser",  # Fedora: the same
    "chromium",
    "chromium-browser",
    "google-chrome",
)
"""Candidate executables in order of preference; a bare name is looked up in PATH."""

EXECUTABLE_VARIABLE = "EYELEVEL_CHROMIUM"
"""Environment variable that selects another executable."""

UNUSED_PORT = 1
"""A port that browsers refuse to open (tcpmux), so that no origin of a page can have it."""

WINDOW_MARGIN_PX = 120
"""Pixels by which the window is larger than the viewport, so that it never clips it."""


NO_PROXY = "--no-proxy-server"

NO_SANDBOX = "--no-sandbox"
"""Flag for `--unsafe-browser` only: as root or in our namespaces Chromium does not start with
its own sandbox.
"""

TCP_EARLY_DATA = "EnableTLS13EarlyData"
"""Chromium's feature for early data over TCP, off by default; over QUIC it is always on."""


CLEAR_BETWEEN_VISITS = "--enable-net-benchmarking"
"""Flag for loads with two visits: lets us clear the cache, but not the browser's knowledge of
servers.
"""


@dataclass(frozen=True, slots=True)
class Flag:
    """One command-line flag of the browser, with the reason for it."""

    argument: str
    reason: str


FLAGS: tuple[Flag, ...] = (
    Flag("--headless", "no display server; the compositor still runs at 60 frames a second"),
    Flag("--remote-debugging-pipe", "descriptors cross namespaces, a debugging port does not"),
    Flag("--no-startup-window", "the page opens in a new context; the default one stays unused"),
    Flag("--disable-gpu", "one software compositor everywhere, whatever the machine's graphics"),
    Flag("--force-color-profile=srgb", "the same colours in the frames of every machine"),
    Flag("--force-device-scale-factor=1", "one frame pixel is one CSS pixel"),
    Flag("--hide-scrollbars", "a scroll bar's appearing is no visual change of the page"),
    Flag("--lang=en-US", "Accept-Language must match on every machine, as the recordings do"),
    Flag("--mute-audio", "no sound device is opened"),
    Flag("--no-first-run", "no welcome page"),
    Flag("--no-default-browser-check", "no question, no start-up work"),
    Flag("--password-store=basic", "no key ring is asked"),
    Flag("--disable-breakpad", "a crash is an outcome here; no handler process outlives a load"),
    Flag("--disable-crash-reporter", "the same"),
    Flag("--disable-background-networking", "no update, variations or Safe Browsing requests"),
    Flag("--disable-component-update", "no component downloads"),
    Flag("--disable-default-apps", "no web store requests"),
    Flag("--disable-extensions", "no extension of the machine may touch the page"),
    Flag("--disable-sync", "no account requests"),
    Flag("--disable-domain-reliability", "no reports to the browser's maker"),
    Flag("--disable-client-side-phishing-detection", "no model download, no page scan"),
    Flag("--disable-field-trial-config", "no experiment groups: the same browser in every load"),
    Flag("--metrics-recording-only", "nothing is uploaded"),
    Flag("--no-pings", "no hyperlink auditing requests"),
    Flag(NO_PROXY, "a proxy of the environment would bypass the emulated path"),
    Flag("--disable-background-timer-throttling", "timers run as in a visible window"),
    Flag("--disable-backgrounding-occluded-windows", "the window counts as visible"),
    Flag("--disable-renderer-backgrounding", "the renderer keeps its foreground priority"),
    Flag("--disable-hang-monitor", "a slow page is measured, not asked about"),
)
"""Flags of every load."""

DISABLED_FEATURES: tuple[Flag, ...] = (
    Flag("Translate", "no language detection, no offer"),
    Flag("OptimizationHints", "no hints server"),
    Flag("OptimizationGuideModelDownloading", "no model downloads"),
    Flag("MediaRouter", "no device discovery"),
    Flag("DialMediaRouteProvider", "the same"),
    Flag("AutofillServerCommunication", "no form signatures sent"),
    Flag("CertificateTransparencyComponentUpdater", "no log list download"),
    Flag("NetworkTimeServiceQuerying", "no clock requests"),
    Flag("WebUIOmniboxPopup", "the address bar's hidden pages cost 0.65 CPU s and 0.3 s a start"),
    Flag("WebUIOmniboxAimPopup", "the same"),
    Flag("HttpsUpgrades", "an http origin of a recording must stay one"),
)
"""Features that `--disable-features` turns off."""

AS_RECORDED_DISABLED = Flag(
    "AutoupgradeMixedContent", "a recorded http picture of an https page is asked for over http"
)
AS_RECORDED_ENABLED = Flag(
    "HstsTopLevelNavigationsOnly",
    "recorded http objects are asked for over http, whatever the browser's list of hosts with "
    "strict transport security says; pages themselves it still upgrades",
)
"""Features for replays only: live pages are loaded and recorded with the browser's defaults."""

PREFERENCES: Mapping[str, object] = {
    # Open no connection ahead of a navigation. Chromium otherwise connects to a page's origin as
    # soon as it is told to navigate, while navigation start, the zero of all times, comes after
    # work on its own window: connections began 0 to 5 ms before time zero on a quiet machine, 44 ms
    # on a busy one. No flag or feature turns that off. Its cost: speculation rules are not followed
    # (docs/decisions/0006-browser-start.md).
    "net": {"network_prediction_options": 2},
}
"""Content of the profile's `Preferences` file, by Chromium's own names."""

PROTOCOL_FLAGS: dict[str, tuple[Flag, ...]] = {
    "h1": (
        Flag("--disable-quic", "TCP only"),
        Flag("--disable-http2", "ALPN offers HTTP/1.1 only"),
    ),
    "h2": (Flag("--disable-quic", "TCP only; ALPN lets a server choose HTTP/2"),),
    "h3": (
        Flag("--enable-quic", "--origin-to-force-quic-on is added with the secure origins;"),
        Flag("--quic-version=h3", "the final version of RFC 9000, never a draft"),
    ),
}
"""Flags that pin the protocol, by `http_version`."""

DISABLE_FEATURES, ENABLE_FEATURES = "--disable-features", "--enable-features"
_JOINED = (DISABLE_FEATURES, ENABLE_FEATURES)
FIELD_TRIALS = "--force-fieldtrials"

CONNECTION_TYPES: dict[str, str] = {"slow-2g": "Slow-2G", "2g": "2G", "3g": "3G", "4g": "4G"}
"""Chromium's names of effective connection types, by ours; it ignores unknown names."""


def browser_arguments(
    http_version: str,
    quic_origins: Sequence[str],
    spki_sha256: str | None,
    viewport_px: tuple[int, int],
    *,
    proxy: str | None = None,
    early_data: bool = False,
    own_hosts: Sequence[tuple[str, str]] = (),
    effective_connection_type: str | None = None,
    is_visited_before: bool = False,
    as_recorded: bool = False,
    finds_quic: bool = False,
    own_flags: Sequence[str] = (),
) -> list[str]:
    """Return the browser's arguments, without the executable.

    `quic_origins` are `host:port`; these origins have no fallback to TCP. If `finds_quic`, the
    browser learns of HTTP/3 by itself. `own_flags` are a plan's; Chromium obeys only the last of a
    switch that is given twice, so that their features join ours.
    """
    width, height = viewport_px
    arguments = [flag.argument for flag in FLAGS if not (proxy and flag.argument == NO_PROXY)]
    if proxy is not None:
        # Without this list Chromium bypasses the proxy for loopback.
        arguments += [f"--proxy-server=http://{proxy}", "--proxy-bypass-list=<-loopback>"]
    arguments += [flag.argument for flag in PROTOCOL_FLAGS[http_version]]
    disabled = [feature.argument for feature in DISABLED_FEATURES]
    enabled = [TCP_EARLY_DATA] if early_data else []
    if as_recorded:
        disabled.append(AS_RECORDED_DISABLED.argument)
        enabled.append(AS_RECORDED_ENABLED.argument)
    own = [flag.partition("=") for flag in own_flags]
    disabled += [features for name, _, features in own if name == DISABLE_FEATURES]
    enabled += [features for name, _, features in own if name == ENABLE_FEATURES]
    arguments.append(f"{DISABLE_FEATURES}={','.join(disabled)}")
    if enabled:
        arguments.append(f"{ENABLE_FEATURES}={','.join(enabled)}")
    others = dict.fromkeys(name for name, _, _ in own if name not in _JOINED)
    for switch in others:
        values = [features for name, _, features in own if name == switch]
        arguments.append(f"{switch}={('/' if switch == FIELD_TRIALS else ',').join(values)}")
    arguments.append(f"--window-size={width},{height + WINDOW_MARGIN_PX}")
    if http_version == "h3" and quic_origins:
        forced = _exempt(quic_origins) if finds_quic else quic_origins
        arguments.append("--origin-to-force-quic-on=" + ",".join(forced))
    if effective_connection_type is not None:
        # Otherwise each stack would have its own estimate, and hold back other requests.
        name = CONNECTION_TYPES[effective_connection_type]
        arguments.append(f"--force-effective-connection-type={name}")
    if is_visited_before:
        arguments.append(CLEAR_BETWEEN_VISITS)
    if own_hosts:
        rules = ",".join(f"MAP {host} {address}" for host, address in own_hosts)
        arguments.append(f"--host-resolver-rules={rules}")
    if spki_sha256 is not None:
        # Works for QUIC and TCP alike; plain --ignore-certificate-errors fails for QUIC.
        arguments.append(f"--ignore-certificate-errors-spki-list={spki_sha256}")
    return arguments


def _exempt(quic_origins: Sequence[str]) -> list[str]:
    """Return origins on a port that nobody uses, one a host.

    QUIC accepts a certificate of an unknown root only from hosts in this list, of which Chromium
    then compares the host alone (net/quic/crypto/proof_verifier_chromium.cc); it forces QUIC by
    host and port (net/http/http_stream_factory_job.cc).
    """
    hosts = dict.fromkeys(origin.rpartition(":")[0] for origin in quic_origins)
    return [f"{host}:{UNUSED_PORT}" for host in hosts]


def find_executable(build: str | None = None) -> str:
    """Return the path of Chromium's executable, or of another `build` of it.

    Raises `BrowserStartError` if there is none.
    """
    if build is not None:
        if (executable := shutil.which(build)) is None:
            raise BrowserStartError(
                f"looked for a build of Chromium at {build} and found no program there; correct "
                "the plan's `chromium`"
            )
        return executable
    return find_program("Chromium", "chromium", EXECUTABLES, EXECUTABLE_VARIABLE)


class Chromium(BrowserProgram):
    """One running Chromium with its profile and its debugging pipe, which `close` closes."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        prefix: Sequence[str] = (),
        readable: Sequence[Path] = (),
        build: str | None = None,
    ) -> None:
        super().__init__(folder, prefix, readable)
        self.command = [find_executable(build), *arguments, f"--user-data-dir={self.profile}"]
        if is_unsafe():
            self.command.append(NO_SANDBOX)
        self.to_browser_fd = -1
        self.from_browser_fd = -1

    def _start(self) -> None:
        default = self.profile / "Default"
        default.mkdir(mode=0o700, exist_ok=True)
        (default / "Preferences").write_text(json.dumps(PREFERENCES), encoding="utf-8")
        child_reads, self.to_browser_fd = _high_pipe()
        self.from_browser_fd, child_writes = _high_pipe()
        try:
            pipes = {3: child_reads, 4: child_writes}
            self._run(self.command, pipes, browser_environment(self.profile))
        finally:
            os.close(child_reads)
            os.close(child_writes)

    def close(self) -> None:
        """End the processes and close the pipes; safe to call twice."""
        super().close()
        for descriptor in (self.to_browser_fd, self.from_browser_fd):
            if descriptor >= 0:
                os.close(descriptor)
        self.to_browser_fd = self.from_browser_fd = -1


def _high_pipe() -> tuple[int, int]:
    """Return a pipe whose descriptors are above 4: the child's are copied onto 0 to 4."""
    read_end, write_end = os.pipe()
    return move_high(read_end), move_high(write_end)
