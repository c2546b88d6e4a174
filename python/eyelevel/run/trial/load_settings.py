"""What the browser is asked to do for one trial: its settings, its site's and its lab's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.same_requests import SameRequests
from eyelevel.errors import LabError
from eyelevel.lab.client import Lab
from eyelevel.plan.connection_type import ConnectionType
from eyelevel.plan.steps import parse_step
from eyelevel.plan.trials import Trial
from eyelevel.sites.recorded import Screen, recorded_screen, site_info

PICTURE_PX = (640, 360)
"""Largest longer and shorter side of a frame (docs/decisions/frame-capture.md)."""


def load_settings(trial: Trial, lab: Lab, archive: str, url: str | None) -> LoadSettings:
    """The load of `url`, else of the recording's own page; raises LabError where it names none."""
    target = url or lab.ready.main_url
    if target is None:
        raise LabError("the recording names no page to open; give its URL")
    asked = trial.browser
    screen = _screen(trial, archive)
    return LoadSettings(
        url=target,
        browser=asked.get("browser", "chromium"),
        viewport_px=screen.viewport_px,
        picture_px=_picture_px(screen),
        mobile=screen.mobile,
        device_scale=screen.device_scale,
        device_model=screen.model,
        cpu_slowdown=asked.get("cpu_slowdown", 1.0),
        color_scheme=asked.get("color_scheme", "light"),
        javascript=asked.get("javascript", True),
        blocked_hosts=tuple(asked.get("blocked_hosts", ())),
        netlog=asked.get("netlog", False),
        trace=asked.get("trace", False),
        after_load=tuple(parse_step(text) for text in asked.get("after_load", ())),
        http_version=trial.stack_settings["http_version"],
        quic_origins=lab.ready.quic_origins(),
        unasked_hosts=lab.ready.unasked_hosts(),
        spki_sha256=lab.ready.spki_sha256,
        ca_certificate=lab.ready.ca_certificate,
        command_prefix=lab.command_prefix,
        capture="screencast" if asked["capture"] else "none",
        timeout_s=asked["timeout_s"],
        same_requests=same_requests(trial, archive),
        visit=asked.get("visit", "first"),
        visitor=asked.get("visitor", "first"),
        effective_connection_type=_forced_type(asked),
        early_data=trial.stack_settings.get("early_data", False),
        ecn=trial.stack_settings["ecn"],
    )


def _forced_type(asked: Mapping[str, Any]) -> ConnectionType | None:
    found: ConnectionType | None = asked.get("effective_connection_type")
    return None if found == "measured" else found


def same_requests(trial: Trial, archive: str) -> SameRequests | None:
    """What holds the page's date and randomness, unless the plan turned it off."""
    if not trial.browser["same_requests"]:
        return None
    return SameRequests(site_info(Path(archive))["recorded_at_unix_ms"])


def _picture_px(screen: Screen) -> tuple[int, int]:
    """A phone held upright has an upright picture, of as many pixels at most."""
    longer, shorter = PICTURE_PX
    width, height = screen.viewport_px
    return (longer, shorter) if width >= height else (shorter, longer)


def _screen(trial: Trial, archive: str) -> Screen:
    """The device of the plan; without one the recording's own screen."""
    device = trial.browser.get("device")
    if device is None:
        return recorded_screen(Path(archive))
    width, height = device["viewport_px"]
    return Screen((width, height), device["mobile"], device["device_scale"], device["model"])
