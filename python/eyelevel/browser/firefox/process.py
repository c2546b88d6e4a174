"""Start a Firefox with WebDriver BiDi, and end all of its processes.

Firefox listens for BiDi on loopback only, and each network namespace has its own loopback. So a
small helper inside the namespace connects and passes the open socket out: a socket stays in the
namespace that created it, whichever process holds it.

`eyelevel.browser.firefox.process` has its settings.

Preferences that are set before Firefox starts.

`docs/decisions/0012-firefox.md` has the reasons.

Write a Firefox extension that blocks all requests to some hosts.

WebDriver BiDi's intercepts support no host with a `*`, and hold each matching request until the
client answers. Firefox evaluates the extension's rules itself (`declarativeNetRequest`), at once.
"""

from __future__ import annotations

import json
import math
import os
import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from eyelevel.base.errors import BrowserStartError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.firefox.bidi import BiDi, WebSocket
from eyelevel.browser.firefox.screen import SCREEN_AUTHORITY, Screen, write_private
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.processes import (
    BrowserProgram,
    ProcessSession,
    browser_environment,
    find_program,
    move_high,
)

EXECUTABLES: tuple[str, ...] = (
    "/usr/lib/firefox-esr/firefox-esr",  # Debian: the binary behind the wrapper
    "firefox-esr",
    "firefox",
)
EXECUTABLE_VARIABLE = "EYELEVEL_FIREFOX"
"""Environment variable that selects another executable."""

PORT_FILE = "WebDriverBiDiServer.json"
"""File in the profile to which Firefox writes its BiDi port."""

X_SOCKETS = Path("/tmp/.X11-unix")
"""Folder of the X servers' sockets; the browser sees no other sockets of the machine."""

CERTUTIL_TIMEOUT_S = 20.0


def find_firefox() -> str:
    """Return the path of Firefox's executable; raises `BrowserStartError` if there is none."""
    return find_program("Firefox", "firefox-esr", EXECUTABLES, EXECUTABLE_VARIABLE)


class Firefox(BrowserProgram):
    """One running Firefox with its profile and the socket of its BiDi session."""

    def __init__(self, settings: LoadSettings, folder: Path, screen: Screen | None) -> None:
        sockets = [X_SOCKETS / f"X{screen.display.strip(':')}"] if screen else []
        super().__init__(folder, settings.command_prefix, sockets)
        self._settings = settings
        self.extension: Path | None = None
        """Extension to install after the start, if hosts are blocked."""
        self._screen = screen
        self._web_socket: WebSocket | None = None

    def connect(self, deadline: float) -> BiDi:
        """Open the BiDi session; raises `BrowserStartError` if Firefox does not listen in time."""
        ours, theirs = socket.socketpair()
        child_end = move_high(theirs.detach())
        log = move_high(os.open(self.log_path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC))
        helper = [sys.executable, "-I", "-c", _REACH, str(self.profile / PORT_FILE)]
        reaching = ProcessSession.start(
            [*self._settings.command_prefix, *helper],
            descriptors={3: child_end, 1: log, 2: log},
            environment=environment(self.profile, None),
        )
        os.close(child_end)
        os.close(log)
        try:
            with ours:
                wait_s = max(deadline - time.monotonic(), 0.0)
                if not select.select([ours], [], [], wait_s)[0]:
                    raise BrowserStartError(
                        "Firefox did not listen for WebDriver BiDi in time; see `eyelevel doctor`"
                    )
                port, descriptors, _, _ = socket.recv_fds(ours, 64, 1)
        finally:
            reaching.end(named=f"eyelevel-reach-{os.getpid()}-{id(self)}")
        if not descriptors:
            raise BrowserStartError(
                "Firefox does not listen for WebDriver BiDi, see `eyelevel doctor`: "
                f"{self.log_tail()}"
            )
        host = f"127.0.0.1:{port.decode()}"
        connected = socket.socket(fileno=descriptors[0])
        self._web_socket = WebSocket(connected, host, "/session", deadline)
        return BiDi(self._web_socket)

    def close(self) -> None:
        """End the processes and close the socket; safe to call twice."""
        if self._web_socket is not None:
            self._web_socket.close()
            self._web_socket = None
        super().close()

    def _make_profile(self) -> None:
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in preferences(self._settings).items()
        ]
        (self.profile / "user.js").write_text("".join(lines), encoding="utf-8")
        if self._screen is not None:
            write_private(self.profile / SCREEN_AUTHORITY, self._screen.authority)
        if self._settings.ca_certificate is not None:
            trust_authority(self.profile, self._settings.ca_certificate)
        hosts, urls = self._settings.browser.blocked_hosts, self._settings.blocked_urls
        if hosts or urls:
            # Write it before the folder belongs to Firefox, which could place links in it later.
            self.extension = self.profile / _EXTENSION
            write_extension(self.extension, hosts, urls)

    def _start(self) -> None:
        self._make_profile()
        width, height = self._settings.viewport_px
        command = [
            find_firefox(),
            *(() if self._screen else ("--headless",)),
            "--no-remote",
            "--profile",
            str(self.profile),
            f"--width={width}",
            f"--height={height + TOOLBARS_PX}",
            "--remote-debugging-port=0",
            # Only the browser itself can close its connections and clear what a page stored.
            *(("--remote-allow-system-access",) if self._settings.browser.is_again else ()),
            "about:blank",
        ]
        self._run(command, {}, environment(self.profile, self._screen))


TOOLBARS_PX = 140
"""Height reserved for the window's toolbars above the page, CSS pixels."""

WINDOW_WIDTH_PX_MIN = 500
"""Minimum width of a window, CSS pixels; the page in it may be narrower."""


def window_px(settings: LoadSettings) -> tuple[int, int]:
    """Return the window's size on the screen, device pixels, for the page's viewport."""
    width, height = settings.viewport_px
    scale = settings.device_scale
    return (
        math.ceil(max(width, WINDOW_WIDTH_PX_MIN) * scale),
        math.ceil((height + TOOLBARS_PX) * scale),
    )


def trust_authority(profile: Path, certificate_pem: str) -> None:
    """Create the profile's certificate store, with one certificate authority in it."""
    file = profile / "authority.pem"
    file.write_text(certificate_pem, encoding="ascii")
    store = f"sql:{profile}"
    for arguments in (
        ("-N", "-d", store, "--empty-password"),
        ("-A", "-d", store, "-n", "eyelevel lab", "-t", "C,,", "-i", str(file)),
    ):
        try:
            subprocess.run(
                ["certutil", *arguments],
                check=True,
                capture_output=True,
                timeout=CERTUTIL_TIMEOUT_S,
            )
        except FileNotFoundError as error:
            raise BrowserStartError(
                "making Firefox trust the lab: certutil is missing; install it (Debian: "
                "apt-get install libnss3-tools)"
            ) from error
        except subprocess.SubprocessError as error:
            raise BrowserStartError(
                f"making Firefox trust the lab: {error}; see `eyelevel doctor`"
            ) from error


def environment(profile: Path, screen: Screen | None) -> dict[str, str]:
    """Return Firefox's environment variables, with a display if there is a screen."""
    for_firefox = browser_environment(profile) | {
        "XDG_CACHE_HOME": str(profile),
        "MOZ_CRASHREPORTER_DISABLE": "1",
        "LIBGL_ALWAYS_SOFTWARE": "1",
    }
    if screen is not None:
        authority = str(profile / SCREEN_AUTHORITY)
        for_firefox |= {"DISPLAY": screen.display, "XAUTHORITY": authority, "GDK_BACKEND": "x11"}
    return for_firefox


_REACH = """
import json, os, socket, sys, time
def no_link(path, flags):
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
out, until = socket.socket(fileno=3), time.monotonic() + 60
while time.monotonic() < until:
    try:
        with open(sys.argv[1], opener=no_link) as file:
            port = json.loads(file.read(1000))["ws_port"]
        connected = socket.create_connection(("127.0.0.1", port))
    except (OSError, ValueError):
        time.sleep(0.005)
        continue
    socket.send_fds(out, [str(port).encode()], [connected.fileno()])
    break
"""
"""Script of the helper inside the namespace; it exits when it has passed the socket on."""


COARSE_POINTER = 1
"""Value of `ui.*PointerCapabilities` for a finger, which cannot hover."""

COMMON_PREFERENCES: Mapping[str, bool | int | str] = {
    # Only the page uses the network, and nothing else changes while it loads.
    "app.update.disabledForTesting": True,
    "app.normandy.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.tabs.firefox-view": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.native_https_query": False,
    "network.trr.mode": 5,  # names are resolved by the lab's resolver, never by DNS over HTTPS
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
    # Timer resolution of a microsecond instead of a millisecond.
    "privacy.reduceTimerPrecision": False,
    # Only the lab's certificate authority matters, and it has no OCSP responder.
    "security.OCSP.enabled": 0,
    "security.cert_pinning.enforcement_level": 0,
    "security.enterprise_roots.enabled": False,
    "security.pki.certificate_transparency.mode": 0,
    # Recordings hold http origins; the page must not see that it is automated.
    "dom.security.https_first": False,
    "dom.webdriver.enabled": False,
    "intl.accept_languages": "en-US,en",
    "ui.caretBlinkTime": 0,
    # Pages must not open dialogs of the browser.
    "print.enabled": False,
}

AS_RECORDED_PREFERENCES: Mapping[str, bool | int | str] = {
    # Objects recorded over http are requested over http.
    "network.stricttransportsecurity.preloadlist": False,
    "security.mixed_content.upgrade_display_content": False,
}

PROTOCOL_PREFERENCES: Mapping[str, Mapping[str, bool | int | str]] = {
    "h1": {"network.http.http2.enabled": False, "network.http.http3.enable": False},
    "h2": {"network.http.http3.enable": False},
    "h3": {
        "network.http.http3.enable": True,
        # Otherwise a certificate authority that is not built in turns HTTP/3 off.
        "network.http.http3.disable_when_third_party_roots_found": False,
    },
}


MOBILE_PREFERENCES: Mapping[str, bool | int | str] = {
    # As on a phone: touch alone, which hovers over nothing; `<meta name=viewport>` counts, and a
    # page without it is laid out 980 wide.
    "dom.meta-viewport.enabled": True,
    "dom.w3c_touch_events.enabled": 1,
    "dom.w3c_touch_events.legacy_apis.enabled": True,
    "dom.maxtouchpoints.testing.value": 5,
    "ui.primaryPointerCapabilities": COARSE_POINTER,
    "ui.allPointerCapabilities": COARSE_POINTER,
    "general.platform.override": "Linux armv81",
}


def preferences(settings: LoadSettings) -> dict[str, bool | int | str]:
    """Return the preferences of a load by name, as far as they differ from Firefox's defaults."""
    chosen = {**COMMON_PREFERENCES, **PROTOCOL_PREFERENCES[settings.stack.http_version]}
    if settings.stack.over_quic:
        # Requests to each listed host go over QUIC at once, without a first response over TCP.
        mapped = [f"{host};h3=:{port}" for host, port in map(_split, settings.quic_origins)]
        chosen["network.http.http3.alt-svc-mapping-for-testing"] = ",".join(mapped)
        # By default Firefox sends ECN marks and reports received ones.
        for key in ("mark", "report"):
            chosen[f"network.http.http3.ecn_{key}"] = settings.stack.ecn == "on"
    if settings.as_recorded:
        chosen |= AS_RECORDED_PREFERENCES
    if settings.mobile:
        chosen |= MOBILE_PREFERENCES
    chosen["layout.css.devPixelsPerPx"] = f"{settings.device_scale}"
    chosen["javascript.enabled"] = settings.browser.javascript
    if not settings.stack.over_quic:
        chosen["security.tls.enable_0rtt_data"] = settings.stack.early_data
    dark = settings.browser.color_scheme == "dark"
    chosen["layout.css.prefers-color-scheme.content-override"] = 0 if dark else 1
    return chosen


def _split(origin: str) -> Sequence[str]:
    host, _, port = origin.rpartition(":")
    return host, port


_EXTENSION = "blocked-hosts"
"""Name of the extension's folder in a profile."""

KINDS = [
    "main_frame",
    "sub_frame",
    "stylesheet",
    "script",
    "image",
    "imageset",
    "font",
    "object",
    "object_subrequest",
    "media",
    "xmlhttprequest",
    "websocket",
    "ping",
    "beacon",
    "csp_report",
    "web_manifest",
    "xml_dtd",
    "xslt",
    "speculative",
    "other",
]

_MANIFEST = {
    "manifest_version": 3,
    "name": "blocked hosts",
    "version": "1",
    "permissions": ["declarativeNetRequest"],
    "declarative_net_request": {
        "rule_resources": [{"id": "hosts", "enabled": True, "path": "hosts.json"}]
    },
    "browser_specific_settings": {"gecko": {"id": "blocked-hosts@eyelevel.invalid"}},
}


def host_expression(host: str) -> str:
    """Return a regular expression for the URLs of a host, or of all hosts below `*.HOST`."""
    below = r"[^/?#@]+\." if host.startswith("*.") else ""
    name = host.removeprefix("*.").replace(".", r"\.")
    return rf"^[a-z]+://{below}{name}(:[0-9]+)?/"


def url_expression(pattern: str) -> str:
    """Matches the URLs of a pattern in which `*` stands for any characters."""
    return "^" + re.escape(pattern).replace(r"\*", ".*") + "$"


def write_extension(folder: Path, hosts: Sequence[str], urls: Sequence[str] = ()) -> None:
    """Write the extension that blocks `hosts` and `urls` to a new folder."""
    expressions = [*map(host_expression, hosts), *map(url_expression, urls)]
    rules: list[JsonObject] = [
        {
            "id": number,
            "action": {"type": "block"},
            "condition": {"regexFilter": expression, "resourceTypes": KINDS},
        }
        for number, expression in enumerate(expressions, start=1)
    ]
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(_MANIFEST), encoding="utf-8")
    (folder / "hosts.json").write_text(json.dumps(rules), encoding="utf-8")
