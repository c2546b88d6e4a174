"""`eyelevel network show`: what the words of a path come to, and how a plan says the same."""

from typing import Annotated

import typer

from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.output import hints, print_json, say
from eyelevel.errors import NetworkError
from eyelevel.networks.compose import NetworkWords, compose, plan_table
from eyelevel.run.trial.traces import read_stages


@with_network_options()
def show(
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a network as a plan has it, from the words that `load` and the others take.

    Its stages, or its numbers, are said beside that. With --json its settings, and under `plan` a
    plan's text, which is null of a made course with stages, since no plan can spell that out.
    """
    composed = compose(words, read_stages)
    network = composed.network
    try:
        table, why = plan_table(composed), ""
    except NetworkError as error:
        table, why = None, str(error)
    if as_json:
        print_json({**network.stated(), "plan": table})
        return
    say(hints, f"{network.name}: {network.described()}")
    if table is None:
        say(hints, why)
    else:
        print(table)  # plain: rich would take the brackets for its own marks
