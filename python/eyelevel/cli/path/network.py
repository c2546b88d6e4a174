"""`eyelevel network`: make networks from what a site's own users have."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import print_json
from eyelevel.errors import NetworkError
from eyelevel.from_outside.files import read_text
from eyelevel.from_outside.limits import TABLE
from eyelevel.from_outside.source import Source
from eyelevel.networks.from_csv import WeightedNetwork, networks_from_csv, toml_of

app = typer.Typer(help="Make networks from measurements.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `from-csv` a subcommand though it is the only one."""


@app.command("from-csv")
def from_csv(
    file: Annotated[Path, typer.Argument(help="A table of round trips and rates: RUM or CrUX.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print weighted networks for a plan from percentiles of users' round trips and rates.

    A row a class of users: rtt_ms and down_mbit_s, as wanted name, weight, up_mbit_s, loss_two_way,
    queue_ms. Or a row a percentile: percentile, rtt_ms, down_mbit_s. Columns, units and defaults:
    docs/reference/networks.md.
    """
    users = read_users(file)
    if as_json:
        print_json([{"weight": e.share, **e.network.stated()} for e in users])
    else:
        # Plain: rich would take the brackets for its own marks.
        print(toml_of(users), end="")


def read_users(file: Path) -> list[WeightedNetwork]:
    """The networks that a file's table describes; NetworkError names file, line and remedy."""
    text = read_text(file, Source(str(file), TABLE, NetworkError))
    return networks_from_csv(text, str(file))
