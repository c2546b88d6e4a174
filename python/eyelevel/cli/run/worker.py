"""`eyelevel worker`: this machine's slots for a run elsewhere."""

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import hints
from eyelevel.errors import ExpectedError

TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust-network", help="Nobody else is on the network, so a cluster there needs no TLS."
    ),
]


class NoClusterError(ExpectedError):
    """The extra is not installed."""


def check_installed() -> None:
    """Raises NoClusterError without Dask's `distributed`."""
    if find_spec("distributed") is None:
        raise NoClusterError(
            "loading on a cluster: Dask is not installed; pip install 'eyelevel[cluster]'"
        )


def worker(
    where: Annotated[
        str, typer.Argument(metavar="ADDRESS|FILE", help="The scheduler's, or scheduler.json.")
    ],
    slots: Annotated[int, typer.Option(min=1, help="Labs side by side.")] = 1,
    trust_network: TrustOption = False,
    while_open: Annotated[bool, typer.Option("--while-open", hidden=True)] = False,
) -> None:
    """Load blocks for the run whose scheduler is there, until it is told to end.

    After a lost scheduler it dials again.
    """
    check_installed()
    from eyelevel.cluster.worker import run_slots

    path = Path(where)
    address = json.loads(path.read_text())["address"] if path.is_file() else where
    asyncio.run(
        run_slots(address, slots, is_trusted=trust_network, while_open=while_open, told=_tell)
    )


def _tell(line: str) -> None:
    hints.print(line, markup=False)
