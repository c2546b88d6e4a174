"""`run --cluster`: what was asked for, refused before anything is written where it cannot be."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import hints, say
from eyelevel.cli.run.worker import check_installed
from eyelevel.errors import StoreError
from eyelevel.plan.plan import Plan
from eyelevel.run.study.jobs import JobsError, check_jobs
from eyelevel.run.study.loop import Driver, Execution
from eyelevel.sites.recorded import RecordedSite

ClusterOption = Annotated[
    str,
    typer.Option(
        metavar="WHERE", help="Slots elsewhere: local:N, listen:HOST:PORT, a scheduler's address."
    ),
]
MixedOption = Annotated[
    bool, typer.Option("--mixed", help="Of --cluster: machines that differ are classes apart.")
]
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9]+):/+(?P<rest>.*)")
_LOCAL = re.compile(r"local:(\d+)")


@dataclass(frozen=True)
class Cluster:
    """Where a run's slots are; `where` is empty if they are here."""

    where: str = ""
    is_mixed: bool = False
    is_trusted: bool = False

    def words(self) -> list[str]:
        """What asks for it in a command."""
        words = ["--cluster", self.where] if self.where else []
        words += ["--mixed"] if self.is_mixed else []
        return words + (["--trust-network"] if self.is_trusted else [])

    def check(self, jobs: int) -> None:
        """Raises an ExpectedError where this cannot be, beside that many labs here."""
        if not self.where:
            if self.is_mixed:
                raise JobsError("--mixed is of machines, of which only --cluster WHERE has several")
            check_jobs(jobs)
            return
        check_installed()
        if jobs > 1:
            raise JobsError(
                f"--jobs {jobs} has labs here and --cluster {self.where} has them elsewhere: leave "
                f"one out; --cluster local:{jobs} has slots here"
            )
        if found := _LOCAL.fullmatch(self.where):
            check_jobs(max(1, int(found[1])), "--cluster local:")

    def driver(
        self, out: Path, plan: Plan, sites: Sequence[RecordedSite], execution: Execution
    ) -> Driver | None:
        """What has the slots; None if they are here. Raises ClusterError."""
        if not self.where:
            return None
        # Imported where it is used: Dask takes long, and few runs need it.
        from eyelevel.cluster.driver import cluster_driver

        return cluster_driver(
            self.where,
            out,
            plan,
            sites,
            execution,
            mixed=self.is_mixed,
            is_trusted=self.is_trusted,
            told=lambda line: say(hints, line),
        )


def check_directory(out: Path) -> None:
    """Raises StoreError for a URL."""
    if found := _URL.fullmatch(str(out)):
        url = f"{found['scheme']}://{found['rest']}"
        raise StoreError(
            f"writing {url}: --out is a directory of this machine's; give one, and "
            f"--copy-to {url} for copies there"
        )
