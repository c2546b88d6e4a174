"""Assemble the browser's settings for one trial, from the trial, its site and its lab."""

from dataclasses import replace
from pathlib import Path

from eyelevel.base.errors import LabError
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.same_requests import SameRequests
from eyelevel.lab.client import Lab
from eyelevel.plan.trials import Trial
from eyelevel.sites.recorded import Screen, read_blocked, read_screen, site_info

PICTURE_PX = (640, 360)
"""The largest longer and shorter side of a frame (docs/decisions/0007-frame-capture.md)."""


def load_settings(trial: Trial, lab: Lab, archive: str, url: str | None) -> LoadSettings:
    """Return the settings to load `url`, or by default the recording's own page.

    Raises LabError if the recording names no page.
    """
    target = url or lab.ready.main_url
    if target is None:
        raise LabError("the recording names no page to open; give its URL")
    settings = LoadSettings(
        url=target,
        stack=trial.stack_settings,
        browser=trial.browser,
        quic_origins=lab.ready.quic_origins(),
        own_hosts=lab.ready.own_hosts(),
        spki_sha256=lab.ready.spki_sha256,
        ca_certificate=lab.ready.ca_certificate,
        command_prefix=lab.command_prefix,
        cores=lab.ready.client_cores,
        same_page=same_page(trial, archive),
        blocked_urls=read_blocked(Path(archive)),
        as_recorded=True,
    )
    return on_screen(settings, trial, read_screen(Path(archive)))


def same_page(trial: Trial, archive: str) -> SameRequests | None:
    """Return the settings that fix the page's date and randomness; None if disabled."""
    if not trial.browser.same_requests:
        return None
    return SameRequests(site_info(Path(archive))["recorded_at_unix_ms"])


def on_screen(settings: LoadSettings, trial: Trial, otherwise: Screen) -> LoadSettings:
    """Return the settings with the screen of the trial's device, or `otherwise` without one."""
    device = trial.browser.device
    screen = otherwise
    if device is not None:
        screen = Screen(device.viewport_px, device.mobile, device.device_scale, device.model)
    return replace(
        settings,
        viewport_px=screen.viewport_px,
        picture_px=_picture_px(screen),
        mobile=screen.mobile,
        device_scale=screen.device_scale,
        device_model=screen.model,
    )


def _picture_px(screen: Screen) -> tuple[int, int]:
    """Return the largest width and height of a frame, in the orientation of the viewport."""
    longer, shorter = PICTURE_PX
    width, height = screen.viewport_px
    return (longer, shorter) if width >= height else (shorter, longer)
