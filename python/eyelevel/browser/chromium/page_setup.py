"""Set up viewport, device and conditions of a page before it is opened."""

from __future__ import annotations

from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.chromium.timings import TIMER_SCRIPT
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.page_answer import WORLD

# Stop the text cursor from blinking: a focused field would repaint twice a second for ever. Such a
# page is never quiet, its loads end at the cap, and its Last Visual Change is the cap, whatever the
# stack (seen on the recorded front page of Wikipedia, whose search field takes the focus).
# A constructed style sheet leaves the document's own nodes and sheets as they are; the cursor stays
# visible (CSS UI 4, `caret-animation`).
STEADY_CARET_SCRIPT = """(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { caret-animation: manual !important }');
  document.adoptedStyleSheets.push(sheet);
})();"""


ANDROID_VERSION = "12.0.0"
"""Android version of current mid-range phones; only in client hints, since the user agent
always has 10.
"""


def set_up_page(
    devtools: DevTools, session_id: str, settings: LoadSettings, deadline: float
) -> None:
    """Prepare an empty tab; raises the errors of `DevTools.call`."""
    for method, parameters in _calls(devtools, settings, deadline):
        devtools.call(method, parameters, session_id, deadline)


def _calls(
    devtools: DevTools, settings: LoadSettings, deadline: float
) -> list[tuple[str, JsonObject]]:
    width, height = settings.viewport_px
    screen = {
        "width": width,
        "height": height,
        "deviceScaleFactor": settings.device_scale,
        "mobile": settings.mobile,
    }
    scheme = {"name": "prefers-color-scheme", "value": settings.browser.color_scheme}
    calls: list[tuple[str, JsonObject]] = [
        ("Page.enable", {}),
        ("Page.setLifecycleEventsEnabled", {"enabled": True}),
        ("Performance.enable", {"timeDomain": "timeTicks"}),
        ("Emulation.setDeviceMetricsOverride", screen),
        ("Emulation.setEmulatedMedia", {"features": [scheme]}),
        ("Page.addScriptToEvaluateOnNewDocument", {"source": STEADY_CARET_SCRIPT}),
        # Run it in an isolated world, so that no page can see or disturb it.
        ("Page.addScriptToEvaluateOnNewDocument", {"source": TIMER_SCRIPT, "worldName": WORLD}),
    ]
    if settings.mobile:
        version = devtools.call("Browser.getVersion", None, "", deadline)
        calls.append(("Network.setUserAgentOverride", mobile_agent(settings, version)))
        calls.append(("Emulation.setTouchEmulationEnabled", {"enabled": True}))
    elif settings.user_agent is not None:
        calls.append(("Network.setUserAgentOverride", {"userAgent": settings.user_agent}))
    if settings.browser.slowdown != 1:
        calls.append(("Emulation.setCPUThrottlingRate", {"rate": settings.browser.slowdown}))
    if not settings.browser.javascript:
        calls.append(("Emulation.setScriptExecutionDisabled", {"value": True}))
    if settings.browser.blocked_hosts:
        urls = [f"*://{host}/*" for host in settings.browser.blocked_hosts]
        calls.append(("Network.setBlockedURLs", {"urls": urls}))
    return calls


def mobile_agent(settings: LoadSettings, version: JsonObject) -> JsonObject:
    """Return the user agent and client hints of a phone; otherwise they would be the machine's."""
    agent = settings.user_agent or mobile_user_agent(version["userAgent"])
    hints = {
        "platform": "Android",
        "platformVersion": ANDROID_VERSION,
        "architecture": "",
        "model": settings.device_model,
        "mobile": True,
    }
    return {"userAgent": agent, "platform": "Linux armv81", "userAgentMetadata": hints}


def mobile_user_agent(desktop: str) -> str:
    """Return the reduced user agent of the same Chromium version on Android."""
    version = desktop.partition("Chrome/")[2].partition(".")[0]
    return (
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{version}.0.0.0 Mobile Safari/537.36"
    )
