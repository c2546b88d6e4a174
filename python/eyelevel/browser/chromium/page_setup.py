"""Set up a page's viewport, device and conditions in Chromium, and read its timings after the load.

A timer of 20 ms runs in the main frame. If it fires later than a long task explains, the renderer
may have lacked CPU time (`eyelevel.analysis.trials.facts` decides).
"""

from __future__ import annotations

from eyelevel.base.errors import PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.page_timings import SCRIPT, WORLD, PageAnswer, check_answer

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
        ("Page.addScriptToEvaluateOnNewDocument", {"source": _TIMER_SCRIPT, "worldName": WORLD}),
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
    urls = [f"*://{host}/*" for host in settings.browser.blocked_hosts]
    if urls := [*urls, *settings.blocked_urls]:
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


GAP_KEPT_MS = 50
GAPS_MAX = 1000
"""Maximum number of gaps stored; gaps of at most `GAP_KEPT_MS` are not stored."""

# A page can clear all timers by counting up their ids; a posted task has no such id.
_TIMER_SCRIPT = f"""
(() => {{
  if (window !== window.top || Object.hasOwn(globalThis, 'timerGaps')) return;
  const gaps = [];
  globalThis.timerGaps = gaps;
  let last = performance.now();
  const next = () => scheduler.postTask(tick, {{ delay: 20 }});
  const tick = () => {{
    const now = performance.now();
    if (now - last > {GAP_KEPT_MS} && gaps.length < {GAPS_MAX}) gaps.push([last, now - last]);
    last = now;
    next();
  }};
  next();
}})()
"""


def read_timings(
    devtools: DevTools, page: str, main_frame: str, javascript: bool, deadline: float
) -> PageAnswer:
    """Return the validated result of `SCRIPT`, run in our isolated world of the session `page`.

    `javascript`: whether the page's scripts are enabled; if not, they are enabled meanwhile, since
    no script of ours would run either. Events of the largest paint arrive before this returns.
    Raises the errors of `DevTools.call` and `PageAnswerError`.
    """

    def call(method: str, parameters: dict[str, object]) -> dict[str, object]:
        return devtools.call(method, parameters, page, deadline)

    if not javascript:
        call("Emulation.setScriptExecutionDisabled", {"value": False})
    # The timer runs in the world of this name, too.
    world = call("Page.createIsolatedWorld", {"frameId": main_frame, "worldName": WORLD})
    context = world["executionContextId"]
    evaluate = {"expression": SCRIPT, "contextId": context, "returnByValue": True}
    reply = devtools.call("Runtime.evaluate", evaluate, page, deadline)
    for types in (["largest-contentful-paint"], []):
        # Buffered entries are sent before the reply; none are sent while the page loads.
        call("PerformanceTimeline.enable", {"eventTypes": types})
    if not javascript:
        call("Emulation.setScriptExecutionDisabled", {"value": True})
    if "exceptionDetails" in reply:
        raise PageAnswerError("the page's own timings cannot be read: the script failed there")
    return check_answer(reply.get("result", {}).get("value"))
