"""Start one Firefox with WebDriver BiDi, and take every trace of it away again.

Firefox speaks BiDi over a WebSocket on the loopback alone, and each network namespace has a
loopback of its own. So a small helper inside the namespace connects and hands the open socket out:
a socket stays in the namespace that it was made in, whoever holds it.

Why each preference is set: docs/decisions/firefox.md.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from eyelevel.browser.bidi import BiDi
from eyelevel.browser.chromium import move_high
from eyelevel.browser.errors import BrowserStartError
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.processes import ProcessSession, last_words
from eyelevel.browser.websocket import WebSocket

EXECUTABLES: tuple[str, ...] = (
    "/usr/lib/firefox-esr/firefox-esr",  # Debian: the binary behind the wrapper
    "firefox-esr",
    "firefox",
)
EXECUTABLE_VARIABLE = "EYELEVEL_FIREFOX"
"""Environment variable that names another executable."""

PORT_FILE = "WebDriverBiDiServer.json"
"""Where Firefox writes the port that it listens on, in its profile."""

CERTUTIL_TIMEOUT_S = 20.0

COMMON_PREFERENCES: Mapping[str, bool | int | str] = {
    # Nothing but the page uses the network, and nothing changes while it loads.
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
    "network.trr.mode": 5,  # names are asked of the lab's resolver, never over HTTPS
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
    # Times to the microsecond instead of to the millisecond.
    "privacy.reduceTimerPrecision": False,
    # The lab's authority is the only one that matters, and it answers no question about itself.
    "security.OCSP.enabled": 0,
    "security.cert_pinning.enforcement_level": 0,
    "security.enterprise_roots.enabled": False,
    "security.pki.certificate_transparency.mode": 0,
    # Recordings hold http origins; the page must not know that it is driven.
    "dom.security.https_first": False,
    "dom.webdriver.enabled": False,
    "intl.accept_languages": "en-US,en",
    "ui.caretBlinkTime": 0,
    "layout.css.devPixelsPerPx": "1.0",
}

PROTOCOL_PREFERENCES: Mapping[str, Mapping[str, bool | int | str]] = {
    "h1": {"network.http.http2.enabled": False, "network.http.http3.enable": False},
    "h2": {"network.http.http3.enable": False},
    "h3": {
        "network.http.http3.enable": True,
        # Else an authority of one's own turns HTTP/3 off.
        "network.http.http3.disable_when_third_party_roots_found": False,
    },
}


def preferences(settings: LoadSettings) -> dict[str, bool | int | str]:
    """Everything that differs from Firefox's own, by the preference's name."""
    found = dict(COMMON_PREFERENCES) | PROTOCOL_PREFERENCES[settings.http_version]
    if settings.http_version == "h3":
        # Each listed host is asked over QUIC at once, without a first answer over TCP.
        mapped = [f"{host};h3=:{port}" for host, port in map(_split, settings.quic_origins)]
        found["network.http.http3.alt-svc-mapping-for-testing"] = ",".join(mapped)
    dark = settings.color_scheme == "dark"
    found["layout.css.prefers-color-scheme.content-override"] = 0 if dark else 1
    return found


def find_firefox() -> str:
    """Path of the Firefox to start; raises `BrowserStartError` where there is none."""
    wanted = os.environ.get(EXECUTABLE_VARIABLE)
    for candidate in (wanted,) if wanted else EXECUTABLES:
        if found := shutil.which(candidate):
            return found
    looked_for = wanted or ", ".join(EXECUTABLES)
    raise BrowserStartError(
        f"looked for a Firefox ({looked_for}) and found none; "
        f"install it (Debian: apt-get install firefox-esr) or set {EXECUTABLE_VARIABLE}"
    )


class Firefox:
    """One running Firefox, its profile and its BiDi session's socket; a context manager."""

    def __init__(self, settings: LoadSettings, profile: Path, display: str | None) -> None:
        self.profile = profile
        self._settings = settings
        self._display = display
        self._web_socket: WebSocket | None = None
        self.session: ProcessSession | None = None

    def __enter__(self) -> Firefox:
        try:
            self._make_profile()
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self, deadline: float) -> BiDi:
        """Raises `BrowserStartError` where Firefox does not listen in time."""
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
                    raise BrowserStartError("Firefox did not listen for WebDriver BiDi in time")
                said, descriptors, _, _ = socket.recv_fds(ours, 64, 1)
        finally:
            reaching.end(named=f"eyelevel-reach-{os.getpid()}-{id(self)}")
        if not descriptors:
            raise BrowserStartError(
                f"Firefox does not listen for WebDriver BiDi: {self.log_tail()}"
            )
        host = f"127.0.0.1:{said.decode()}"
        connected = socket.socket(fileno=descriptors[0])
        self._web_socket = WebSocket(connected, host, "/session", deadline)
        return BiDi(self._web_socket)

    @property
    def log_path(self) -> Path:
        """Where Firefox's standard output and error go."""
        return self.profile / "browser.log"

    def log_tail(self) -> str:
        """The last that Firefox said, on one line, for messages."""
        return last_words(self.log_path)

    def close(self) -> None:
        """End the processes, close the socket, remove the profile; safe to call twice."""
        if self._web_socket is not None:
            self._web_socket.close()
            self._web_socket = None
        if self.session is not None:
            entered = bool(self._settings.command_prefix)
            self.session.end(named=str(self.profile), entered=entered)
            self.session = None
        shutil.rmtree(self.profile, ignore_errors=True)

    def _make_profile(self) -> None:
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in preferences(self._settings).items()
        ]
        (self.profile / "user.js").write_text("".join(lines), encoding="utf-8")
        if self._settings.ca_certificate is not None:
            trust_authority(self.profile, self._settings.ca_certificate)

    def _start(self) -> None:
        width, height = self._settings.viewport_px
        command = [
            *self._settings.command_prefix,
            find_firefox(),
            *(() if self._display else ("--headless",)),
            "--no-remote",
            "--profile",
            str(self.profile),
            f"--width={width}",
            f"--height={height + TOOLBARS_PX}",
            "--remote-debugging-port=0",
            "about:blank",
        ]
        log = move_high(os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            self.session = ProcessSession.start(
                command,
                descriptors={1: log, 2: log},
                environment=environment(self.profile, self._display),
            )
        except OSError as error:
            raise BrowserStartError(
                f"starting {command[0]} failed: {error.strerror}; "
                "check that the program is there and may be executed"
            ) from error
        finally:
            os.close(log)


TOOLBARS_PX = 140
"""Room for the window's toolbars above the page."""


def trust_authority(profile: Path, certificate_pem: str) -> None:
    """Make the profile's certificate store with one authority in it."""
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
            raise BrowserStartError(f"making Firefox trust the lab: {error}") from error


def environment(profile: Path, display: str | None) -> dict[str, str]:
    """Only what Firefox needs: a setting of the caller's shell must not change a load."""
    found = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "HOME": str(profile),
        "TMPDIR": str(profile),
        "XDG_CACHE_HOME": str(profile),
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        "MOZ_CRASHREPORTER_DISABLE": "1",
        "LIBGL_ALWAYS_SOFTWARE": "1",
    }
    return found if display is None else {**found, "DISPLAY": display, "GDK_BACKEND": "x11"}


def _split(origin: str) -> Sequence[str]:
    host, _, port = origin.rpartition(":")
    return host, port


_REACH = """
import json, socket, sys, time
out, until = socket.socket(fileno=3), time.monotonic() + 60
while time.monotonic() < until:
    try:
        with open(sys.argv[1]) as file:
            port = json.load(file)["ws_port"]
        found = socket.create_connection(("127.0.0.1", port))
    except (OSError, ValueError):
        time.sleep(0.005)
        continue
    socket.send_fds(out, [str(port).encode()], [found.fileno()])
    break
"""
"""Runs inside of the namespace; ends by itself."""
