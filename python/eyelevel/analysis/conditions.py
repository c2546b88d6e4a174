"""What the pages were shown in, if it was not the usual: a clause for the methods."""

from collections.abc import Mapping

from eyelevel.plan.in_force import browser_for, with_browser
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack

_VISITS: Mapping[str, str] = {
    "repeat": (
        "on a repeat visit (a second load with the first one's TLS tickets, without its "
        "connections, HTTP cache, cookies and storage)"
    ),
    "warm": (
        "on a warm visit (a second load over the connections that the first left open, without its "
        "HTTP cache, cookies and storage)"
    ),
}

_VISITORS: Mapping[str, str] = {"known": "with a browser that knew what every host speaks"}
_TYPES: Mapping[str, str] = {
    "measured": "with Chromium's own estimate of the network, which differs between stacks",
    **{
        name: f"with the network taken for {name} by the browser"
        for name in ("slow-2g", "2g", "3g", "4g")
    },
}


def stacks_planned(plan: Plan) -> list[Stack]:
    """The plan's stacks with what each has of the browser, its own or the plan's."""
    return [with_browser(stack, browser_for(plan.browser, stack)) for stack in plan.stacks]


def conditions_said(plan: Plan) -> str:
    """What the loads were made in; empty where everything was as recorded."""
    browser = plan.browser
    said = _said({each.name: each.visit for each in stacks_planned(plan)}, _VISITS)
    said += _said({each.name: each.visitor or browser.visitor for each in plan.stacks}, _VISITORS)
    if browser.is_chromium:
        own = {each.name: each.effective_connection_type for each in stacks_planned(plan)}
        said += _said(own, _TYPES)
    else:
        film = ", its pictures a film of the screen, 30 a second" if browser.capture else ""
        said.append(f"in Firefox{film}")
    if device := browser.device:
        width, height = device.viewport_px
        touch = ", touch" if device.mobile else ""
        said.append(f"posing as {device.name} ({width} x {height} CSS pixels{touch})")
    if browser.slowdown != 1:
        said.append(f"with scripts slowed down {browser.slowdown:g} times")
    if browser.color_scheme != "light":
        said.append(f"with the {browser.color_scheme} color scheme")
    if not browser.javascript:
        said.append("without JavaScript")
    if browser.blocked_hosts:
        said.append(f"with requests to {', '.join(browser.blocked_hosts)} blocked")
    if browser.longest_prefix:
        said.append("answered by the longest common prefix where nothing better was recorded")
    if not browser.capture:
        said.append("without taking pictures")
    if browser.after_load:
        said.append(f"followed by {'; '.join(browser.after_load)}")
    return ", ".join(said)


def _said(by_stack: Mapping[str, str | None], meanings: Mapping[str, str]) -> list[str]:
    """A clause a setting that is not the usual one; stacks are named where they differ in it."""
    clauses = []
    for kind, said in meanings.items():
        names = [name for name, setting in by_stack.items() if setting == kind]
        if len(names) == len(by_stack):
            clauses.append(said)
        elif names:
            clauses.append(f"{', '.join(names)} {said}")
    return clauses
