"""Print the network of path options, and the same as a plan's text (`eyelevel network show`)."""

from typing import Annotated

import typer

from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.output import hints, print_json, say
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.plan_text import plan_table


@with_network_options()
def show(
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the network that a set of options describes, as a plan would have it.

    It takes the same options as `load`. Beside the plan's text it prints the network's stages
    or numbers; --json has its settings, and the plan's text under `plan`.
    """
    composed = compose(words, read_stages)
    network, table = composed.network, plan_table(words, composed)
    if as_json:
        print_json({**network.stated(), "plan": table})
        return
    say(hints, f"{network.name}: {network.described()}")
    print(table)  # plain print: rich would parse the brackets as markup
