"""Check a plan, list its trials, and predict its cost and power (`eyelevel plan`).

Open a plan's sites, with a status if that takes time: synthetic ones are generated.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.answers import NETWORKS_NAMED_MAX
from eyelevel.analysis.conditions import describe_smallest_effect
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.cli.results.gate import read_conditions
from eyelevel.cli.run.plan_text import (
    Blocks,
    Corpus,
    Networks,
    Stacks,
    Traces,
    narrowing_of,
    parse_text,
    read_plan,
    read_plan_text,
)
from eyelevel.cli.values import duration
from eyelevel.plan.edits import parse_change
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import expand, recording_key
from eyelevel.plan.variants import Variant
from eyelevel.run.study.estimate import SequentialEstimate
from eyelevel.run.study.estimate import estimate as estimate_plan
from eyelevel.run.study.time_limits import check_time_limits, describe_limits
from eyelevel.sites.contents import check_secure
from eyelevel.sites.early_hints import find_early_hints
from eyelevel.sites.edits import derive
from eyelevel.sites.recorded import RecordedSite, open_site

app = typer.Typer(
    help="Check a plan, list its trials, or predict what it costs.", no_args_is_help=True
)

PlanArgument = Annotated[str, typer.Argument(help="A plan file (TOML) or the name of a preset.")]
Sites = Annotated[
    list[str] | None,
    typer.Option("--site", "--sites", help="With a preset: use these sites, not its own."),
]
Scale = Annotated[str, typer.Option(help="With a preset: `small` makes it a smoke test.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("check")
def check(
    plan: PlanArgument,
    site: Sites = None,
    corpus: Corpus = None,
    traces: Traces = None,
    scale: Scale = "full",
    networks: Networks = None,
    stacks: Stacks = None,
    blocks: Blocks = None,
) -> None:
    """Check a plan, and name every problem with its file, line and the closest known word."""
    narrowing = narrowing_of(networks, stacks, blocks)
    parsed = read_plan(plan, site or [], scale, corpus=corpus, traces=traces, narrowing=narrowing)
    sites = _open_sites(parsed)
    trials = len(expand(parsed, [site.of_plan() for site in sites]))
    results.print(
        f"{plan}: {trials} loads: {_count(len(parsed.sites), 'site')} x "
        f"{_count(len(parsed.networks), 'network')} x {_count(len(parsed.stacks), 'stack')} x "
        f"{_count(parsed.blocks, 'block')}; {describe_limits(parsed, sites)}",
        markup=False,
        soft_wrap=True,
    )
    text = f"smallest effect of interest: {describe_smallest_effect(parsed)}"
    results.print(text, markup=False, soft_wrap=True)


@app.command("show")
def show(
    plan: PlanArgument,
    site: Sites = None,
    corpus: Corpus = None,
    traces: Traces = None,
    scale: Scale = "full",
    networks: Networks = None,
    stacks: Stacks = None,
    blocks: Blocks = None,
) -> None:
    """Print a plan as TOML, with the networks, stacks, sites and blocks that the options choose.

    What is printed is a plan file: save it, and `eyelevel run FILE` runs it.
    """
    narrowing = narrowing_of(networks, stacks, blocks)
    text, name = read_plan_text(
        plan, site or [], scale, corpus=corpus, traces=traces, narrowing=narrowing
    )
    parse_text(text, name)
    print(text.rstrip())


@app.command("expand")
def expand_(
    plan: PlanArgument,
    site: Sites = None,
    corpus: Corpus = None,
    traces: Traces = None,
    scale: Scale = "full",
    networks: Networks = None,
    stacks: Stacks = None,
    blocks: Blocks = None,
    as_json: Json = False,
) -> None:
    """List all trials in order, tab-separated: hash, block, stack, position, seed."""
    narrowing = narrowing_of(networks, stacks, blocks)
    parsed = read_plan(plan, site or [], scale, corpus=corpus, traces=traces, narrowing=narrowing)
    trials = expand(parsed, [site.of_plan() for site in _open_sites(parsed)])
    if as_json:
        print_json([trial.record_key() for trial in trials])
        return
    print("hash\tblock\tstack\tposition\tseed")
    for trial in trials:
        print(trial.hash, trial.block, trial.stack, trial.position, trial.seed, sep="\t")


@app.command("estimate")
def estimate(
    plan: PlanArgument,
    site: Sites = None,
    corpus: Corpus = None,
    traces: Traces = None,
    scale: Scale = "full",
    networks: Networks = None,
    stacks: Stacks = None,
    blocks: Blocks = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="The directory of an earlier run whose loads the prediction is based on."
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help="As for `run`: also predict how many blocks this gate needs."),
    ] = None,
    slots: Annotated[
        int, typer.Option(min=1, help="How many labs run at a time, by --jobs or on all machines.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Predict a plan's time, disk space and smallest visible effect, and a gate's blocks."""
    narrowing = narrowing_of(networks, stacks, blocks)
    parsed = read_plan(plan, site or [], scale, corpus=corpus, traces=traces, narrowing=narrowing)
    sites = _open_sites(parsed)
    conditions = read_conditions(fail_if, parsed)
    estimated = estimate_plan(parsed, sites, like, conditions, slots)
    if as_json:
        print_json(asdict(estimated))
        return
    listing = table("", "", "estimated from")
    listing.add_row("loads", str(estimated.trials), "")
    listing.add_row("time", duration(estimated.seconds), estimated.time_source)
    digits = 1 if estimated.disk_bytes < 10e6 else 0
    listing.add_row("disk", f"{estimated.disk_bytes / 1e6:,.{digits}f} MB", estimated.disk_source)
    listing.add_row(
        "smallest effect", _describe_effects(estimated.effects), estimated.effect_source
    )
    if estimated.sequential:
        listing.add_row(
            "blocks", _describe_blocks(estimated.sequential), "a comparison's median study"
        )
    if conditions:
        needed = "more than 1,000" if estimated.gate_blocks is None else str(estimated.gate_blocks)
        listing.add_row("blocks for the gate", needed, estimated.gate_source)
    listing.add_row(
        "time limit of a load", duration(estimated.timeout_s_max), "the longest of all cells"
    )
    results.print(listing)


def _open_sites(plan: Plan) -> list[RecordedSite]:
    """Open the plan's recordings.

    Raises `PlanError` where `run` would, too.
    """
    sites = open_pages(plan)
    check_secure(plan.stacks, sites)
    check_time_limits(plan, sites)
    return sites


def foretell(plan: Plan, sites: Sequence[RecordedSite]) -> str:
    """Return a line on a study that may stop early, before its first load: how long it takes, and
    what it can find."""
    estimated = estimate_plan(plan, sites)
    line = f"at most {estimated.trials} loads in {duration(estimated.seconds)}"
    expected = estimated.sequential
    if expected is None:
        return line
    line += f"; about {expected.blocks_equal} of {plan.blocks} blocks if nothing differs"
    if expected.effect is not None:
        line += (
            f", {expected.blocks_effect} at a difference of {expected.effect:.1%}, which four of "
            "five studies find"
        )
    return f"{line} ({estimated.effect_source})"


def _describe_effects(effects: Mapping[str, float]) -> str:
    effect_texts = {network: f"{effect:.1%}" for network, effect in effects.items()}
    if len(set(effect_texts.values())) < 2:
        return next(iter(effect_texts.values()), "undetermined")
    if len(effect_texts) > NETWORKS_NAMED_MAX:
        ends = (min(effects, key=effects.__getitem__), max(effects, key=effects.__getitem__))
        return " to ".join(f"{effect_texts[network]} ({network})" for network in ends)
    return ", ".join(f"{effect} on {network}" for network, effect in effect_texts.items())


def _describe_blocks(sequential: SequentialEstimate) -> str:
    text = f"about {sequential.blocks_equal} where nothing differs"
    if sequential.blocks_effect is None:
        return text
    return f"{text}, {sequential.blocks_effect} at the smallest effect"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


STATUS_SITES_MIN = 20
"""Minimum number of sites for which a status is shown."""
AT_ONCE = 4
"""Sites opened in parallel; each is a process of the data plane that reads or writes a file."""


def open_pages(plan: Plan) -> list[RecordedSite]:
    """Return a plan's sites, each with the recordings that variants have in its place.

    What the Early Hints of its stacks name is printed for each recording.
    """
    opened = _open_recordings(plan)
    if any(stack.has_early_hints for stack in plan.stacks):
        for each in chain.from_iterable(site.recordings() for site in opened):
            sentence = find_early_hints(each.path).sentence
            hints.print(f"{each.name}: {sentence}", markup=False, soft_wrap=True)
    return opened


def _open_recordings(plan: Plan) -> list[RecordedSite]:
    sites = open_sites(plan.sites)
    own = [
        (each.name, _open_variant(each, plan, [site.name for site in sites]))
        for each in plan.variants
        if each.recordings or each.edits
    ]
    return [
        replace(site, variants={name: opened[place] for name, opened in own})
        for place, site in enumerate(sites)
    ]


def _open_variant(variant: Variant, plan: Plan, names: Sequence[str]) -> list[RecordedSite]:
    """Open a variant's recordings of the sites `names`, edited; print how often each edit matched
    in each."""
    if plan.recording_files:
        return open_sites(
            [plan.recording_files[recording_key(variant.name, name)] for name in names]
        )
    opened = open_sites(variant.recordings or plan.sites)
    edits = [edit for text in variant.edits if (edit := parse_change(text))]
    if not edits:
        return opened
    edited = []
    for site in opened:
        derived = derive(site.path, edits)
        for each in derived.matches:
            times = "once" if each.matches == 1 else f"{each.matches} times"
            hints.print(f"{site.name}: {each.edit} matched {times}", markup=False)
        edited.append(open_site(str(derived.path)))
    return edited


def open_sites(names: Sequence[str]) -> list[RecordedSite]:
    """Open the sites in parallel.

    Returns them in order, and raises the error of the first that fails.
    """
    if len(names) < STATUS_SITES_MIN:
        return [open_site(name) for name in names]
    message = f"opening {len(names)} sites"
    opened: list[RecordedSite] = []
    with hints.waiting(message) as status, ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for site in pool.map(open_site, names):
                opened.append(site)
                status.update(f"{message}: {len(opened)} done")
        finally:
            pool.shutdown(cancel_futures=True)
    return opened
