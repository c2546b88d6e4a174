"""Make networks from measurements of a site's users (`eyelevel network from-csv`).

Print the network of path options, and the same as a plan's text (`eyelevel network show`).
"""

from pathlib import Path
from typing import Annotated, get_args

import typer

from eyelevel.base.errors import NetworkError
from eyelevel.base.from_outside.csv_rows import utf8_of
from eyelevel.base.from_outside.files import read_bytes, text_of
from eyelevel.base.from_outside.limits import TABLE
from eyelevel.base.from_outside.source import Source
from eyelevel.base.settings import RateBitS, Units
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.output import hints, print_json, say
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.from_crux import is_crux, networks_from_crux
from eyelevel.plan.networks.from_csv import WeightedNetwork, networks_from_csv, toml_of
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


RATE: Units = get_args(RateBitS)[1]
RATES_BIT_S = (10**3, 10**11)
RateOption = Annotated[
    str | None, typer.Option(help='The downlink rate for all users of CrUX: "10 Mbit/s".')
]

app = typer.Typer(
    help="Make networks from measurements, or show the network that a set of options describes.",
    no_args_is_help=True,
)
app.command("show")(show)


@app.command("from-csv")
def from_csv(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table of round trips and rates, or CrUX data: the API's JSON, or CSV."
        ),
    ],
    rate: RateOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print weighted networks for a plan from percentiles of users' round trips and rates.

    The table has one row per class of users, with rtt_ms and down_mbit_s and optionally name,
    weight, up_mbit_s, loss_two_way and queue_ms; or one row per percentile, with percentile,
    rtt_ms and down_mbit_s. CrUX data has only round trips; their rate follows from a rule or
    from --rate. docs/reference/networks.md lists columns, units and defaults.
    """
    users = read_users(file, rate)
    if as_json:
        print_json([{"weight": e.share, **e.network.stated()} for e in users])
    else:
        # Plain print: rich would parse the brackets as markup.
        print(toml_of(users), end="")


def read_users(file: Path, rate: str | None = None) -> list[WeightedNetwork]:
    """Return the networks of a file of users; raises `NetworkError` with file, place and remedy.

    `rate`: downlink rate of networks from CrUX, which has none.
    """
    source = Source(str(file), TABLE, NetworkError)
    text = text_of(utf8_of(read_bytes(file, source), source), source)
    if is_crux(text, str(file)):
        users = networks_from_crux(text, str(file), _mbit_s(rate))
        if rate is None:
            say(
                hints,
                f"{file}: CrUX has no rates; these follow from the round trips by a rule "
                "(docs/reference/networks.md). To set a rate, use --rate, or --users-rate of "
                "`ask`",
            )
        return users
    if rate is not None:
        raise NetworkError(f"--rate {rate}: {file} has its own rates; leave this option out")
    return networks_from_csv(text, str(file), lambda line: say(hints, line))


def _mbit_s(rate: str | None) -> float | None:
    if rate is None:
        return None
    try:
        bit_s = RATE.quantity(rate)
    except ValueError as error:
        raise NetworkError(f"--rate: {error}") from error
    if not isinstance(bit_s, int) or not RATES_BIT_S[0] <= bit_s <= RATES_BIT_S[1]:
        raise NetworkError(
            f"--rate: {rate} is not between 1 kbit/s and 100 Gbit/s; write it as 10 Mbit/s"
        )
    return bit_s / 1e6
