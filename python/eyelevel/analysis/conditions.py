"""What the pages were shown in, if it was not the usual: a clause for the methods."""

from collections.abc import Mapping
from typing import Any

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


def visits(plan: Mapping[str, Any]) -> dict[str, str]:
    """Which visit each stack of a `plan.json` was measured on, by the stack's name."""
    of_plan = plan["browser"].get("visit", "first")
    return {stack["name"]: stack.get("visit") or of_plan for stack in plan["stacks"]}


def of_browser(plan: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What a `plan.json` has of the browser that stacks may have apart, by the stack's name."""
    firefox = plan["browser"].get("browser", "chromium") == "firefox"
    visitors, types = _of_stacks(plan, "visitor"), _of_stacks(plan, "effective_connection_type")
    return {
        name: {
            "visit": visit,
            # Whoever comes again knows the hosts.
            "visitor": "known" if visit != "first" else visitors[name] or "first",
            "effective_connection_type": "none" if firefox else types[name] or "network",
        }
        for name, visit in visits(plan).items()
    }


def _of_stacks(plan: Mapping[str, Any], key: str) -> dict[str, str]:
    of_plan = plan["browser"].get(key, "")
    return {stack["name"]: stack.get(key) or of_plan for stack in plan["stacks"]}


def conditions_said(plan: Mapping[str, Any]) -> str:
    """Of a `plan.json`; empty where everything was as recorded."""
    browser = plan["browser"]
    said = _said(visits(plan), _VISITS)
    said += _said(_of_stacks(plan, "visitor"), _VISITORS)
    said += _said(_of_stacks(plan, "effective_connection_type"), _TYPES)
    if browser.get("browser", "chromium") == "firefox":
        film = ", its pictures a film of the screen, 30 a second" if browser["capture"] else ""
        said.append(f"in Firefox{film}")
    if device := browser.get("device"):
        width, height = device["viewport_px"]
        touch = ", touch" if device["mobile"] else ""
        said.append(f"posing as {device['name']} ({width} x {height} CSS pixels{touch})")
    if (slowdown := browser.get("cpu_slowdown", 1)) != 1:
        said.append(f"with scripts slowed down {slowdown:g} times")
    if (scheme := browser.get("color_scheme", "light")) != "light":
        said.append(f"with the {scheme} color scheme")
    if not browser.get("javascript", True):
        said.append("without JavaScript")
    if hosts := browser.get("blocked_hosts"):
        said.append(f"with requests to {', '.join(hosts)} blocked")
    if browser.get("longest_prefix"):
        said.append("answered by the longest common prefix where nothing better was recorded")
    if not browser["capture"]:
        said.append("without taking pictures")
    if steps := browser.get("after_load"):
        said.append(f"followed by {'; '.join(steps)}")
    return ", ".join(said)


def _said(by_stack: Mapping[str, str], meanings: Mapping[str, str]) -> list[str]:
    """A clause a setting that is not the usual one; stacks are named where they differ in it."""
    clauses = []
    for kind, said in meanings.items():
        names = [name for name, setting in by_stack.items() if setting == kind]
        if len(names) == len(by_stack):
            clauses.append(said)
        elif names:
            clauses.append(f"{', '.join(names)} {said}")
    return clauses
