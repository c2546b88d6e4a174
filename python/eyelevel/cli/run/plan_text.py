"""Read a command's PLAN argument: a file or a preset, narrowed by options."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.metrics.catalogue import PRIMARY_METRICS
from eyelevel.base.errors import PlanError, nearest
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.settings import Units
from eyelevel.load.traces import read_stages, read_trace_file
from eyelevel.plan.file.narrow import NOTHING, Narrowing, narrow_plan
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.networks.compose import NetworkWords, compose, pair_of
from eyelevel.plan.networks.plan_text import network_text
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text, with_networks
from eyelevel.sites.corpora.members import members
from eyelevel.sites.recorded import list_shipped, matching

Corpus = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER|LIST|NAME",
        help="With a preset: use the recordings of a corpus instead of its own sites.",
    ),
]
Traces = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="With a preset of operators' links: use recorded traces instead of the models.",
    ),
]
TIMES = Units((("s", 1), ("min", 60), ("h", 3600)))
Networks = Annotated[
    str | None,
    typer.Option("--networks", help="With a preset: only these of its networks, by commas."),
]
Stacks = Annotated[
    str | None,
    typer.Option("--stacks", help="With a preset: only these of its stacks, by commas."),
]
Blocks = Annotated[
    int | None,
    typer.Option("--blocks", min=1, help="With a preset: this number of blocks."),
]


def narrowing_of(networks: str | None, stacks: str | None, blocks: int | None) -> Narrowing:
    """Return what a preset is narrowed to by options."""
    return Narrowing(networks=_names(networks), stacks=_names(stacks), blocks=blocks)


def budget_seconds(budget: str) -> float:
    """Return a time in s. Raises PlanError for a text that is no time."""
    try:
        return float(TIMES.quantity(budget))
    except ValueError as error:
        raise PlanError([f"`--budget {budget}`: {error}"]) from error


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def read_plan(
    plan: str,
    sites: list[str],
    scale: str = "full",
    *,
    corpus: str | None = None,
    traces: str | None = None,
    narrowing: Narrowing = NOTHING,
) -> Plan:
    """Parse a plan file or a preset.

    Raises `PlanError` with file and line, `CorpusError` for the corpus, and `NetworkError` for
    links that `traces` lacks.
    """
    return parse_text(
        *read_plan_text(plan, sites, scale, corpus=corpus, traces=traces, narrowing=narrowing)
    )


def read_plan_text(
    plan: str,
    sites: list[str],
    scale: str = "full",
    *,
    corpus: str | None = None,
    traces: str | None = None,
    narrowing: Narrowing = NOTHING,
) -> tuple[str, str]:
    """Return the TOML of a plan file or a preset, and its name in messages.

    Its errors are those of `read_plan`.
    """
    known = list_shipped()
    if plan in PRESETS_BY_NAME:
        if corpus is not None:
            sites = [*sites, *(member.of_plan for member in members(corpus))]
        text, name = preset_text(plan, list(known), sites, scale), f"preset {plan}"
        text = narrow_plan(text, name, narrowing)
        if traces is not None:
            text = _over_recordings(text, name, traces)
    elif Path(plan).is_file():
        is_narrowed = narrowing.is_given or scale != "full"
        if sites or corpus or traces is not None or is_narrowed:
            own = (
                "--site, --corpus, --traces, --scale, --networks, --stacks and --blocks are for "
                "presets"
            )
            raise PlanError([f'{plan}: {own}; change the plan, such as `sites = ["FOLDER/"]`'])
        text, name = read_text(plan, Source(plan, PLAN, plan_error)), plan
    else:
        close = nearest(plan, PRESETS_BY_NAME)
        hint = f"did you mean `{close}`?" if close else f"known: {', '.join(PRESETS_BY_NAME)}"
        message = f"there is no plan file `{plan}` and no preset of that name"
        raise PlanError([f"{message} ({hint}); see `eyelevel list plans`"])
    return text, name


def parse_text(text: str, name: str) -> Plan:
    """Parse the TOML of a plan; `name` is its name in messages. Raises `PlanError`."""
    return parse_plan(
        text,
        name,
        site_names=list_shipped(),
        metric_names=PRIMARY_METRICS,
        matching=matching,
        readers=Readers(read_trace_file, read_stages, find_recorded_pair),
    )


def _over_recordings(text: str, name: str, folder: str) -> str:
    """Return a preset's text with recordings of its operators' links, as in `load --traces`."""
    tables = []
    for network in parse_toml(text, Source(name, PLAN, plan_error))["networks"]:
        base = network if isinstance(network, str) else network["name"]
        pair_of(base, folder)  # also refuses patterns and tables
        words = NetworkWords(network=base, traces=folder)
        tables.append(network_text(words, compose(words, read_stages)))
    return with_networks(text, tables)
