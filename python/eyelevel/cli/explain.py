"""`eyelevel explain`: why results can differ."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from eyelevel.cli.cell import named_stack
from eyelevel.cli.explain_trial import trial
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.networks import find_network
from eyelevel.plan.explained import ExplainedRow, explain
from eyelevel.plan.stacks import stack_settings
from eyelevel.report.conditions import visits
from eyelevel.report.contents import read_contents
from eyelevel.store.measured import measured_rows

DEFAULT = ("tcp", "tcp+", "quic")


class _TrialByDefault(TyperGroup):
    """`explain TRIAL` is `explain trial TRIAL`: what is no subcommand's name is a trial."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        """As click does, with the word put in front where it is missing."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["trial", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    help="Say why results can differ: of loads (explain TRIAL [TRIAL]) or of stacks.",
    no_args_is_help=True,
    cls=_TrialByDefault,
)
app.command("trial")(trial)


@app.command("stacks")
def stacks(
    names: Annotated[
        list[str] | None, typer.Argument(help="Stacks; default: tcp, tcp+ and quic.")
    ] = None,
    network: Annotated[str, typer.Option(help="Buffers depend on it.")] = "dsl",
    run: Annotated[
        Path | None,
        typer.Option(help="A run whose loads say what is measured; its stacks are shown."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what of the stacks is equalised, inherent and measured, in one table.

    An asterisk marks what is ours to set and is not the same in all of them. What can only be
    measured (header bytes, acknowledgements, CPU time) is taken from a run.
    """
    on = find_network(network)
    if run is None:
        columns = [named_stack(name).name for name in names or DEFAULT]
        rows = explain([stack_settings(named_stack(name), on) for name in columns])
    else:
        columns, rows = _of_run(run)
    if as_json:
        print_json({"stacks": columns, "network": on.name, "aspects": [asdict(r) for r in rows]})
        return
    made = table("", "aspect", *columns)
    for kind in dict.fromkeys(row.kind for row in rows):
        made.add_row(kind, *[""] * (1 + len(columns)))
        for row in rows:
            if row.kind == kind:
                mark = "*" if row.differs and kind == "equalised" else ""
                made.add_row(mark, row.aspect, *row.values)
    results.print(made)
    if run is None:
        hints.print("measured (header bytes, acknowledgements, CPU): give a run with --run DIR")


def _of_run(directory: Path) -> tuple[list[str], list[ExplainedRow]]:
    """The stacks of a run and their rows, what its loads measured included."""
    contents = read_contents(directory)
    settings = dict(contents.table.select("arm", "stack_settings").iter_rows())
    arms = [arm for arm in contents.arms if arm in settings]
    visit_of = visits(contents.plan)
    rows = explain([{"visit": visit_of[arm], **json.loads(settings[arm])} for arm in arms])
    for aspect, values in measured_rows(contents.table, arms):
        rows.append(ExplainedRow(aspect, "measured", tuple(values), len(set(values)) > 1))
    return arms, rows
