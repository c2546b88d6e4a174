"""Preferences that are set before Firefox starts.

`docs/decisions/0012-firefox.md` has the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eyelevel.browser.observations import LoadSettings

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
