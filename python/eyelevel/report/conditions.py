"""What the pages were shown in, where it was not the usual: a clause for the methods."""

from collections.abc import Mapping
from typing import Any


def conditions_said(browser: Mapping[str, Any]) -> str:
    """Of a plan's `browser`; empty where everything was as recorded."""
    said = []
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
    if steps := browser.get("after_load"):
        said.append(f"followed by {'; '.join(steps)}")
    return ", ".join(said)
