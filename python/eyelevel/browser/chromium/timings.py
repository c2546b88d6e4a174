"""Ask a page in Chromium for its own clock readings, once, after the load."""

from typing import Any

from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.chromium.timer_gaps import READ_SCRIPT, TimerWorld
from eyelevel.browser.page_timings import SCRIPT


def read_timings(
    devtools: DevTools, page: str, timer: TimerWorld, javascript: bool, deadline: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`SCRIPT`'s answer and that of the timer's world, asked of the page with the session `page`.

    `javascript`: whether the page's scripts ran; else they may meanwhile, or nothing answers.
    Raises the errors of `DevTools.call`.
    """
    if not javascript:
        devtools.call("Emulation.setScriptExecutionDisabled", {"value": False}, page, deadline)
    evaluate = {"expression": SCRIPT, "awaitPromise": True, "returnByValue": True}
    found = devtools.call("Runtime.evaluate", evaluate, page, deadline)["result"]["value"]
    own: dict[str, Any] = {}
    if timer.context is not None:
        read = {
            "expression": READ_SCRIPT,
            "uniqueContextId": timer.context,
            "returnByValue": True,
        }
        answer = devtools.call("Runtime.evaluate", read, page, deadline)
        own = answer["result"].get("value", {})
    if not javascript:
        devtools.call("Emulation.setScriptExecutionDisabled", {"value": True}, page, deadline)
    return found, own
