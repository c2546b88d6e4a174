"""Read what a command's PLAN argument names: a file or a preset."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.corpora.members import members
from eyelevel.errors import PlanError
from eyelevel.from_outside.files import read_text
from eyelevel.from_outside.limits import PLAN
from eyelevel.from_outside.source import Source, plan_error
from eyelevel.metrics.catalogue import PRIMARY_METRICS
from eyelevel.networks.recorded_links import recorded_pair
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text
from eyelevel.run.trial.traces import read_stages, read_trace_file
from eyelevel.sites.recorded import matching, shipped

Corpus = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER|LIST|NAME",
        help="Of a preset: the recordings of a corpus instead of its own sites.",
    ),
]


def read_plan(
    plan: str, sites: list[str], scale: str = "full", *, corpus: str | None = None
) -> Plan:
    """Parse a plan file or a preset; PlanError names file and line, CorpusError the corpus."""
    known = shipped()
    if plan in PRESETS_BY_NAME:
        if corpus is not None:
            sites = [*sites, *(member.of_plan for member in members(corpus))]
        text, name = preset_text(plan, list(known), sites, scale), f"preset {plan}"
    elif Path(plan).is_file():
        if sites or corpus or scale != "full":
            own = "--site, --corpus and --scale are for presets"
            raise PlanError([f'{plan}: {own}; change the plan, such as `sites = ["FOLDER/"]`'])
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
        readers=Readers(read_trace_file, read_stages, recorded_pair),
    )
