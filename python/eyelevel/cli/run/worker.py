"""`eyelevel worker`: this machine's slots for a run elsewhere."""

import asyncio
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import hints
from eyelevel.errors import ExpectedError, StoreError
from eyelevel.from_outside.files import read_bytes
from eyelevel.from_outside.json_text import parse_object
from eyelevel.from_outside.limits import DOCUMENT
from eyelevel.from_outside.source import Source
from eyelevel.run.study.jobs import claimed_sets

TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust-network", help="Nobody else is on the network, so a cluster there needs no TLS."
    ),
]


_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d+")


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
    slots: Annotated[int, typer.Option(min=1, help="Labs side by side, each on two cores.")] = 1,
    trust_network: TrustOption = False,
    while_open: Annotated[bool, typer.Option("--while-open", hidden=True)] = False,
) -> None:
    """Load blocks for the run whose scheduler is there, until it is told to end.

    After a lost scheduler it dials again.
    """
    check_installed()
    from eyelevel.cluster.worker import run_slots

    address = where if _ADDRESS.fullmatch(where) else _address_in(Path(where))
    with claimed_sets(slots, "--slots ") as cores:
        coming = run_slots(
            address, slots, cores=cores, is_trusted=trust_network, while_open=while_open, told=_tell
        )
        asyncio.run(coming)


def _address_in(file: Path) -> str:
    """A scheduler's, from the file that a run keeps. Raises StoreError."""
    source = Source(str(file), DOCUMENT, StoreError)
    address = parse_object(read_bytes(file, source), source).get("address")
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise StoreError(
            f"reading {file}: it has no scheduler's address; give the scheduler.json of a run that "
            "goes on, or an address such as tcp://10.0.0.7:8786"
        )
    return address


def _tell(line: str) -> None:
    hints.print(line, markup=False)
