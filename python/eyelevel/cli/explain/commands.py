"""The group of commands `eyelevel explain`, and `explain stacks`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from typer.core import TyperGroup

from eyelevel.analysis.conditions import stacks_planned
from eyelevel.analysis.study import read_contents
from eyelevel.analysis.trials.measured import measured_rows
from eyelevel.base.errors import PlanError
from eyelevel.base.json_types import JsonObject
from eyelevel.calibration.level.number_text import NOT_MEASURED
from eyelevel.calibration.level.stack_aspects import ExplainedRow, explain, read_known
from eyelevel.calibration.level.text.stacks import find_unmeasured, format_stacks
from eyelevel.calibration.level.text.verdict import COMMAND
from eyelevel.calibration.measuring.measure import levels_among
from eyelevel.cli.explain.trial import trial
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.output import hints, print_json, results
from eyelevel.cli.values import get_stack
from eyelevel.load.traces import read_stages
from eyelevel.plan.in_force import stack_in_force
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.network import Network
from eyelevel.plan.origin_rtts import apart_by_ways_alone
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

DEFAULT = ("tcp", "tcp+", "quic")


class _TrialByDefault(TyperGroup):
    """A group that runs `explain TRIAL` as `explain trial TRIAL`, unless a subcommand is named."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        """Resolve a command as click does, inserting the default subcommand if none is named."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["trial", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    help=(
        "Explain why results can differ, between loads (explain TRIAL [TRIAL]) or between stacks."
    ),
    no_args_is_help=True,
    cls=_TrialByDefault,
)
app.command("trial")(trial)


@app.command("stacks")
@with_network_options()
def stacks(
    names: Annotated[
        list[str] | None, typer.Argument(help="The stacks; by default tcp, tcp+ and quic.")
    ] = None,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    run: Annotated[
        Path | None,
        typer.Option(help="A run: show its stacks and what its loads measured."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how stacks are set and what this machine measured of them, differences first.

    Settings are those in force on the network, since buffers depend on it. Measured values, and
    whether they count as equal, come from `eyelevel validate level` for pairs of these stacks,
    or from a run.
    """
    planned: Mapping[str, Stack] = {}
    if run is None:
        on = compose(words, read_stages).network
        stacks = [get_stack(name) for name in names or DEFAULT]
        columns = [stack.name for stack in stacks]
        levels = levels_among(stacks)
        rows = explain(
            [stack_in_force(preset, on) for preset in stacks], read_known(levels, columns)
        )
    elif given := words.given():
        raise PlanError([f"{next(iter(given))}: a run has its own networks; leave this option out"])
    else:
        on, columns, levels, rows, planned = _of_run(run)
    if as_json:
        shown = [_row_json(columns, row) for row in rows]
        print_json({"stacks": columns, "network": on.name, "aspects": shown})
        return
    for line in format_stacks(columns, rows, levels, results.width):
        results.print(Text(line.text, line.style), soft_wrap=True)
    hints.print(f"in force on {on.name}: {on.described()}", markup=False, soft_wrap=True)
    if missing := find_unmeasured(columns, rows):
        warning = f"{NOT_MEASURED} on this machine: {', '.join(missing)}"
        hints.print(f"{warning}{_how(columns, missing[0], planned)}", markup=False, soft_wrap=True)


def _how(names: Sequence[str], missing: str, planned: Mapping[str, Stack]) -> str:
    """Return the command that measures a stack against the first other one.

    Stacks that are not presets need a plan. A stack of `planned` that differs only in its origins'
    round trips does not count as another one.
    """
    if len(names) == 1:
        return ""
    others = [
        name
        for name in names
        if name != missing
        and not (planned and apart_by_ways_alone(planned[name], planned[missing]))
    ]
    if not others:
        return "; they differ only in the paths to their origins, so there is nothing to measure"
    pair = (missing, others[0]) if missing == names[0] else (others[0], missing)
    plan = "" if set(pair) <= STACKS_BY_NAME.keys() else " --plan PLAN"
    return f"; {COMMAND} --stacks {','.join(pair)}{plan} measures {pair[0]} and {pair[1]}"


def _row_json(columns: Sequence[str], row: ExplainedRow) -> JsonObject:
    """Return a row as JSON, with null for values that were not measured."""
    values = [None if value == NOT_MEASURED else value for value in row.values]
    return {**asdict(row), "values": dict(zip(columns, values, strict=True))}


def _of_run(
    directory: Path,
) -> tuple[Network, list[str], list[JsonObject], list[ExplainedRow], Mapping[str, Stack]]:
    """Return what a run has on its stacks.

    These are its first network, the stacks' names, the measured level, their rows with the values
    measured by its loads, and the planned stacks by name.
    """
    contents = read_contents(directory)
    loaded = set(contents.table["stack"])
    stacks = [stack for stack in contents.stacks if stack in loaded]
    levels = [
        level
        for level in contents.environment.get("levels") or []
        if {level["first"], level["second"]} <= set(stacks)
    ]
    planned = {stack.name: stack for stack in stacks_planned(contents.planned)}
    on = contents.planned.networks[0]
    rows = explain(
        [stack_in_force(planned[stack], on) for stack in stacks], read_known(levels, stacks)
    )
    for aspect, values in measured_rows(contents.table, stacks):
        rows.append(ExplainedRow(aspect, "", "measured", tuple(values), None))
    by_name = {stack.name: stack for stack in contents.planned.stacks}
    return on, stacks, levels, rows, by_name
