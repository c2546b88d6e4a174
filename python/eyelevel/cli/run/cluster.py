"""Handle `run --cluster`: check its options before anything is written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import StoreError
from eyelevel.cli.output import hints, say
from eyelevel.cli.run.worker import check_installed
from eyelevel.plan.plan import Plan
from eyelevel.run.study.jobs import JobsError, check_jobs
from eyelevel.run.study.loop import Driver, Execution
from eyelevel.sites.recorded import RecordedSite
from eyelevel.store.claim import check_unclaimed

ClusterOption = Annotated[
    str,
    typer.Option(
        metavar="WHERE",
        help="Use slots elsewhere: local:N, listen:HOST:PORT, or a scheduler's address.",
    ),
]
AllowHeterogeneousOption = Annotated[
    bool,
    typer.Option(
        "--allow-heterogeneous",
        help="With --cluster: admit machines that differ, as separate classes.",
    ),
]
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9]+):/+(?P<rest>.*)")
_LOCAL = re.compile(r"local:(\d+)")


@dataclass(frozen=True)
class Cluster:
    """The cluster of a run; `where` is "" if slots are on this machine."""

    where: str = ""
    allows_heterogeneous: bool = False
    is_trusted: bool = False

    @property
    def before_loads(self) -> str:
        """Describe the state before the first load."""
        return "machines were being admitted" if self.where else "no load had begun"

    def check(self, jobs: int) -> None:
        """Raise an `ExpectedError` if these options conflict, or conflict with `jobs`."""
        if not self.where:
            for option, is_there in (
                ("--allow-heterogeneous", self.allows_heterogeneous),
                ("--trust-network", self.is_trusted),
            ):
                if is_there:
                    raise JobsError(
                        f"{option} concerns several machines, and only --cluster WHERE has them; "
                        "leave it out"
                    )
            check_jobs(jobs)
            return
        check_installed()
        if jobs > 1:
            raise JobsError(
                f"--jobs {jobs} runs labs here and --cluster {self.where} runs them elsewhere: "
                f"leave one out; --cluster local:{jobs} runs slots here"
            )
        if found := _LOCAL.fullmatch(self.where):
            check_jobs(max(1, int(found[1])), "--cluster local:")

    def driver(
        self, out: Path, plan: Plan, sites: Sequence[RecordedSite], execution: Execution
    ) -> Driver | None:
        """Return the driver with the slots; None if they are on this machine.

        Raises `ClusterError`, and `StoreError` if another run has the directory.
        """
        if not self.where:
            return None
        # First: another run in this directory would hold the port, too, with a less clear error.
        check_unclaimed(out)
        # Imported here: importing Dask is slow, and few runs need it.
        from eyelevel.cluster.driver import cluster_driver

        return cluster_driver(
            self.where,
            out,
            plan,
            sites,
            execution,
            allow_heterogeneous=self.allows_heterogeneous,
            is_trusted=self.is_trusted,
            report=lambda line: say(hints, line),
        )


def check_directory(out: Path) -> None:
    """Raise `StoreError` if the directory is a URL."""
    if found := _URL.fullmatch(str(out)):
        url = f"{found['scheme']}://{found['rest']}"
        raise StoreError(
            f"writing {url}: --out must be a directory on this machine; give one, and --copy-to "
            f"{url} for copies there"
        )
