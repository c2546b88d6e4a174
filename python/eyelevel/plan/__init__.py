"""Parse a plan and expand it to ordered, seeded, hashed trials; no file and no clock in here."""

from eyelevel.networks import NETWORKS, NETWORKS_BY_NAME, Network, lab_path
from eyelevel.plan.browser_settings import BrowserSettings, browser_settings
from eyelevel.plan.devices import DEVICES, DEVICES_BY_NAME, Device
from eyelevel.plan.errors import PlanError
from eyelevel.plan.one_cell import one_cell
from eyelevel.plan.parse import parse_plan
from eyelevel.plan.plan import Plan, is_archive_path
from eyelevel.plan.presets import PRESETS, PRESETS_BY_NAME, preset_text
from eyelevel.plan.stacks import REFUSED_PRESETS, STACKS, STACKS_BY_NAME, Stack, lab_stack
from eyelevel.plan.tables import Readers, StagesRead, TraceFile
from eyelevel.plan.trials import Site, Trial, expand, plan_document

__all__ = [
    "DEVICES",
    "DEVICES_BY_NAME",
    "NETWORKS",
    "NETWORKS_BY_NAME",
    "PRESETS",
    "PRESETS_BY_NAME",
    "REFUSED_PRESETS",
    "STACKS",
    "STACKS_BY_NAME",
    "BrowserSettings",
    "Device",
    "Network",
    "Plan",
    "PlanError",
    "Readers",
    "Site",
    "Stack",
    "StagesRead",
    "TraceFile",
    "Trial",
    "browser_settings",
    "expand",
    "is_archive_path",
    "lab_path",
    "lab_stack",
    "one_cell",
    "parse_plan",
    "plan_document",
    "preset_text",
]
