"""`eyelevel network`: networks from what a site's own users have, and from words."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from eyelevel.cli.output import hints, print_json, say
from eyelevel.cli.path.network_show import show
from eyelevel.errors import NetworkError
from eyelevel.from_outside.files import read_text
from eyelevel.from_outside.limits import TABLE
from eyelevel.from_outside.source import Source
from eyelevel.networks.from_crux import is_crux, networks_from_crux
from eyelevel.networks.from_csv import WeightedNetwork, networks_from_csv, toml_of
from eyelevel.settings import RateBitS, Units

RATE: Units = get_args(RateBitS)[1]
RATES_BIT_S = (10**3, 10**11)
RateOption = Annotated[
    str | None, typer.Option(help='The rate down of all users of CrUX: "10 Mbit/s".')
]

app = typer.Typer(
    help="Make networks from measurements; show what words of a path come to.",
    no_args_is_help=True,
)
app.command("show")(show)


@app.command("from-csv")
def from_csv(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table of round trips and rates, or of CrUX: the API's JSON, or CSV."
        ),
    ],
    rate: RateOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print weighted networks for a plan from percentiles of users' round trips and rates.

    A row a class of users: rtt_ms and down_mbit_s, as wanted name, weight, up_mbit_s, loss_two_way,
    queue_ms. Or a row a percentile: percentile, rtt_ms, down_mbit_s. Of CrUX the round trips alone,
    and a rate by a rule or by --rate. Columns, units and defaults: docs/reference/networks.md.
    """
    users = read_users(file, rate)
    if as_json:
        print_json([{"weight": e.share, **e.network.stated()} for e in users])
    else:
        # Plain: rich would take the brackets for its own marks.
        print(toml_of(users), end="")


def read_users(file: Path, rate: str | None = None) -> list[WeightedNetwork]:
    """The networks that a file of users describes; NetworkError names file, place and remedy.

    `rate`: down, of networks from CrUX, which has none.
    """
    text = read_text(file, Source(str(file), TABLE, NetworkError))
    if is_crux(text):
        if rate is None:
            say(
                hints,
                f"{file}: CrUX has no rates; these are what goes with the round trips by a rule "
                "(docs/reference/networks.md; another one: --rate, of `ask` --users-rate)",
            )
        return networks_from_crux(text, str(file), _mbit_s(rate))
    if rate is not None:
        raise NetworkError(f"--rate {rate}: {file} has rates of its own; leave it out")
    return networks_from_csv(text, str(file))


def _mbit_s(rate: str | None) -> float | None:
    if rate is None:
        return None
    try:
        bit_s = RATE.quantity(rate)
    except ValueError as error:
        raise NetworkError(f"--rate: {error}") from error
    if not isinstance(bit_s, int) or not RATES_BIT_S[0] <= bit_s <= RATES_BIT_S[1]:
        raise NetworkError(f"--rate: {rate} is not from 1 kbit/s to 100 Gbit/s")
    return bit_s / 1e6
