"""A live load's browser is a replay's: what it is asked to do, field by field."""

from dataclasses import asdict

import pytest
from labs import CORPUS, FAST

from eyelevel.lab.client import Lab, LabConfig, LiveNetwork, Ready
from eyelevel.load.load_settings import load_settings
from eyelevel.plan.browser import DEVICES_BY_NAME, Browser
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.run.live.load import LivePage, live_settings
from eyelevel.sites.recorded import open_site, read_screen

URL = "https://plain.example/"
OWN = {"command_prefix", "quic_origins", "own_hosts", "same_page", "as_recorded"}
"""The place where it stands, whose origins the lab knows, and the date, which is recorded."""


@pytest.mark.parametrize("device", [None, *DEVICES_BY_NAME])
def test_both_sides_browsers_are_asked_the_same(device: str | None) -> None:
    posed = DEVICES_BY_NAME[device].device if device else None
    site, stack = open_site("plain"), STACKS_BY_NAME["tcp+"]
    plan = one_cell(site.name, [FAST], stack, 1, 1, Browser(device=posed, color_scheme="dark"))
    (trial,) = expand(plan, [site.of_plan()])
    lab = Lab(LabConfig(lab_path(FAST), 1))  # none is built: what it would have told
    lab.ready = Ready.of({"init_pid": 1, "main_url": URL})
    replayed = load_settings(trial, lab, str(CORPUS / "plain.wacz"), URL)
    page = LivePage(URL, screen=read_screen(site.path))
    live = live_settings(trial, page, LiveNetwork())
    apart = {name for name, value in asdict(live).items() if value != asdict(replayed)[name]}
    assert apart <= OWN
    if posed is not None:
        screen = (live.viewport_px, live.mobile, live.device_scale, live.device_model)
        assert screen == (posed.viewport_px, posed.mobile, posed.device_scale, posed.model)
    assert live.browser.slowdown == (posed.slowdown if posed else 1.0)
