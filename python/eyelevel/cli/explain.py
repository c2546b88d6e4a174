"""`eyelevel explain`: why results can differ."""

from dataclasses import asdict
from typing import Annotated

import typer

from eyelevel.cli.cell import named_stack
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.networks import find_network
from eyelevel.plan.explained import explain
from eyelevel.plan.stacks import stack_settings

DEFAULT = ("tcp", "tcp+", "quic")

app = typer.Typer(help="Say why results can differ.", no_args_is_help=True)


@app.command("stacks")
def stacks(
    names: Annotated[
        list[str] | None, typer.Argument(help="Stacks; default: tcp, tcp+ and quic.")
    ] = None,
    network: Annotated[str, typer.Option(help="Buffers depend on it.")] = "dsl",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what of the stacks is equalised and what is inherent, in one table.

    An asterisk marks what is ours to set and is not the same in all of them.
    """
    chosen = [named_stack(name) for name in names or DEFAULT]
    on = find_network(network)
    rows = explain([stack_settings(stack, on) for stack in chosen])
    if as_json:
        columns = [stack.name for stack in chosen]
        print_json({"stacks": columns, "network": on.name, "aspects": [asdict(r) for r in rows]})
        return
    made = table("", "aspect", *(stack.name for stack in chosen))
    for kind in ("equalised", "inherent"):
        made.add_row(kind, *[""] * (1 + len(chosen)))
        for row in rows:
            if row.kind == kind:
                mark = "*" if row.differs and kind == "equalised" else ""
                made.add_row(mark, row.aspect, *row.values)
    results.print(made)
    hints.print("measured: each record's connections, and eyelevel validate stacks")
