"""Read what a command's PLAN argument names: a file or a preset."""

from pathlib import Path

from eyelevel.errors import PlanError
from eyelevel.from_outside.files import read_text
from eyelevel.from_outside.limits import PLAN
from eyelevel.from_outside.source import Source, plan_error
from eyelevel.metrics.catalogue import PRIMARY_METRICS
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text
from eyelevel.run.trial.traces import read_stages, read_trace_file
from eyelevel.sites.recorded import matching, shipped


def read_plan(plan: str, sites: list[str], scale: str = "full") -> Plan:
    """Parse a plan file or a preset; PlanError names file and line."""
    known = shipped()
    if plan in PRESETS_BY_NAME:
        text, name = preset_text(plan, list(known), sites, scale), f"preset {plan}"
    elif Path(plan).is_file():
        if sites or scale != "full":
            raise PlanError([f"{plan}: --site and --scale are for presets; change the plan"])
        text, name = read_text(plan, Source(plan, PLAN, plan_error)), plan
    else:
        presets = ", ".join(PRESETS_BY_NAME)
        raise PlanError([f"there is no plan file `{plan}` and no preset of that name: {presets}"])
    return parse_plan(
        text,
        name,
        site_names=known,
        metric_names=PRIMARY_METRICS,
        matching=matching,
        readers=Readers(read_trace_file, read_stages),
    )
