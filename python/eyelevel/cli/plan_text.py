"""Read what a command's PLAN argument names: a file or a preset."""

from pathlib import Path

from eyelevel.metrics import PRIMARY_METRICS
from eyelevel.plan import PRESETS_BY_NAME, Plan, PlanError, Readers, parse_plan, preset_text
from eyelevel.run import matching, shipped
from eyelevel.run.stages import read_stages
from eyelevel.run.traces import read_trace_file


def read_plan(plan: str, sites: list[str], scale: str = "full") -> Plan:
    """Parse a plan file or a preset; PlanError names file and line."""
    known = shipped()
    if plan in PRESETS_BY_NAME:
        text, name = preset_text(plan, list(known), sites, scale), f"preset {plan}"
    elif Path(plan).is_file():
        if sites or scale != "full":
            raise PlanError([f"{plan}: --site and --scale are for presets; change the plan"])
        text, name = Path(plan).read_text(encoding="utf-8"), plan
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
