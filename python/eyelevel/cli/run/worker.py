"""Provide this machine's slots to a run on another machine (`eyelevel worker`)."""

import asyncio
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from eyelevel.base.errors import ExpectedError
from eyelevel.cli.options import UnsafeBrowserOption
from eyelevel.cli.output import hints
from eyelevel.run.study.slots import claim_core_sets

TrustOption = Annotated[
    bool,
    typer.Option("--trust-network", help="Use no TLS: nobody else is on the cluster's network."),
]


class NoClusterError(ExpectedError):
    """The extra `cluster` is not installed."""


def check_installed() -> None:
    """Raise `NoClusterError` if Dask's `distributed` is not installed."""
    if find_spec("distributed") is None:
        raise NoClusterError(
            "loading on a cluster: Dask is not installed; pip install 'eyelevel[cluster]'"
        )


def worker(
    where: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS|FILE", help="The scheduler's address, or DIR/scheduler.json."
        ),
    ],
    slots: Annotated[
        int, typer.Option(min=1, help="How many labs run side by side, each on two cores.")
    ] = 1,
    trust_network: TrustOption = False,
    _unsafe_browser: UnsafeBrowserOption = False,
    while_open: Annotated[bool, typer.Option("--while-open", hidden=True)] = False,
) -> None:
    """Load blocks for a run on another machine, until its scheduler says to stop.

    While there is no scheduler, or after it is lost, the worker keeps dialling and reads FILE
    again.
    """
    check_installed()
    from eyelevel.cluster.trust import Credentials
    from eyelevel.cluster.worker import run_slots

    credentials = Credentials.of_line(sys.stdin.buffer.readline()) if while_open else None
    with claim_core_sets(slots, "--slots ") as cores:
        coming = run_slots(
            where,
            slots,
            cores=cores,
            is_trusted=trust_network,
            credentials=credentials,
            while_open=while_open,
            report=_tell,
        )
        asyncio.run(coming)


def _tell(line: str) -> None:
    hints.print(line, markup=False)
