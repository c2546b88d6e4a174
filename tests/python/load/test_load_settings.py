"""What the browser is asked to do, of what a lab told."""

import os

from labs import CORPUS, FAST

from eyelevel.lab.client import Lab, LabConfig, Ready
from eyelevel.load.load_settings import load_settings
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

URL = "https://plain.example/"


def settings_in_a_lab(reserved_cores):
    site = open_site("plain")
    plan = one_cell(site.name, [FAST], STACKS_BY_NAME["tcp+"], 1, 1, Browser())
    (trial,) = expand(plan, [site.of_plan()])
    lab = Lab(LabConfig(lab_path(FAST), 1))  # none is built: what it would have told
    lab.ready = Ready.of({"init_pid": 1, "main_url": URL, "reserved_cores": reserved_cores})
    return load_settings(trial, lab, str(CORPUS / "plain.wacz"), URL)


def test_the_browser_and_its_helpers_leave_out_the_core_that_a_lab_keeps(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    settings = settings_in_a_lab([2, 3])
    assert settings.cores == (0, 1)
    at = settings.command_prefix.index("--cores")
    assert settings.command_prefix[at + 1] == "0,1"


def test_they_have_all_cores_where_none_is_kept():
    settings = settings_in_a_lab(None)
    assert settings.cores is None and "--cores" not in settings.command_prefix
