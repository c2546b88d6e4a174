"""Run a plan from its first load to its report (`eyelevel run`).

Handle `run --cluster`: check its options before anything is written. Copy a run to a bucket, with
progress in the run's bar (`run --copy-to`).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eyelevel.analysis.gate import check_conditions, evaluate
from eyelevel.base.errors import (
    EXIT_INTERRUPTED,
    AllFailedError,
    LaterError,
    StoreError,
    Terminated,
)
from eyelevel.cli.finish import OpenOption, ending_at, resume_command
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, say
from eyelevel.cli.results.export import Exports, export_all
from eyelevel.cli.results.gate import InconclusiveOption, conclude, read_conditions
from eyelevel.cli.results.report import make_report, print_summary
from eyelevel.cli.run.plan import foretell, open_pages
from eyelevel.cli.run.plan_text import (
    Blocks,
    Corpus,
    Networks,
    Stacks,
    Traces,
    budget_seconds,
    narrowing_of,
    read_plan,
)
from eyelevel.cli.run.status import show_progress
from eyelevel.cli.run.worker import TrustOption, check_installed
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import Trial
from eyelevel.run.block.attempts import RETRIES, RETRIES_MAX
from eyelevel.run.study.live_builds import check_execution, describe_builds, start_live_builds
from eyelevel.run.study.loop import Driver, Execution, Failure, run_trials
from eyelevel.run.study.prepare import prepare
from eyelevel.run.study.slots import JobsError, check_jobs
from eyelevel.run.study.status import StatusFile
from eyelevel.run.study.stopping import FactsSoFar, live_effects, stopping_rule
from eyelevel.sites.recorded import RecordedSite, key_recordings
from eyelevel.store.claim import check_unclaimed
from eyelevel.store.directory import read_trial
from eyelevel.store.disk import check_file

if TYPE_CHECKING:
    from eyelevel.run.bucket.copies import Copies


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


def _check_directory(out: Path) -> None:
    """Raise `StoreError` if the directory is a URL."""
    if found := _URL.fullmatch(str(out)):
        url = f"{found['scheme']}://{found['rest']}"
        raise StoreError(
            f"writing {url}: --out must be a directory on this machine; give one, and --copy-to "
            f"{url} for copies there"
        )


HERE = Cluster()

Jobs = Annotated[
    int, typer.Option(min=1, help="How many labs run side by side, each on two cores of its own.")
]
CopyToOption = Annotated[
    str,
    typer.Option(
        metavar="URL", help="Copy each block to a bucket: s3://, gs://, az:// or file:///PATH."
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="The time that all loads may take, such as `2h`: no repetition begins that, by those "
        "so far, would end later.",
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        min=0,
        max=RETRIES_MAX,
        help="How often to repeat a load that failed because of the instrument, at most.",
    ),
]


def run(
    plan: Annotated[str, typer.Argument(help="A plan file (TOML) or the name of a preset.")],
    out: Annotated[Path, typer.Option(help="Directory for the results.")],
    context: typer.Context,
    site: Annotated[
        list[str] | None,
        typer.Option(
            "--site", "--sites", help="With a preset: use these recorded sites, not its own."
        ),
    ] = None,
    corpus: Corpus = None,
    traces: Traces = None,
    scale: Annotated[
        str, typer.Option(help="With a preset: `small` makes it a smoke test.")
    ] = "full",
    networks: Networks = None,
    stacks: Stacks = None,
    blocks: Blocks = None,
    budget: BudgetOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    peek: Annotated[
        bool, typer.Option("--peek", help="Show gains during the run, with wider intervals.")
    ] = False,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            help='Exit 1 if this holds, such as "quic.speed_index worse than tcp+ by 5%".'
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="With --fail-if: write JUnit XML to this file.")
    ] = None,
    inconclusive: InconclusiveOption = None,
    har: Annotated[
        bool, typer.Option("--har", help="Write HASH.har of each load to DIR/exports.")
    ] = False,
    video: Annotated[
        bool, typer.Option("--video", help="Write HASH.mp4 of each load to DIR/exports.")
    ] = False,
    filmstrip: Annotated[
        bool, typer.Option("--filmstrip", help="Write each load's pictures to DIR/exports.")
    ] = False,
    jobs: Jobs = 1,
    cluster: ClusterOption = "",
    allow_heterogeneous: AllowHeterogeneousOption = False,
    trust_network: TrustOption = False,
    copy_to: CopyToOption = "",
    retries: Retries = RETRIES,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Load every site of a plan over every network and stack, then write the report.

    Ctrl-C stops after the current load; run the command again with --resume to continue.
    """
    _check_directory(out)
    if junit is not None:
        check_file(junit)
    narrowing = narrowing_of(networks, stacks, blocks)
    parsed = read_plan(plan, site or [], scale, corpus=corpus, traces=traces, narrowing=narrowing)
    budget_s = None if budget is None else budget_seconds(budget)
    conditions = read_conditions(fail_if, parsed)
    check_conditions(conditions, parsed.blocks, may_stop=parsed.stop is not None)
    elsewhere = Cluster(cluster, allow_heterogeneous, trust_network)
    execution = Execution(retries, jobs, host_wait_s, parsed.trace_files, budget_s)
    run_plan(
        parsed, out, resume=resume, resume_line=resume_command(context), execution=execution,
        peek=peek, cluster=elsewhere, copy_to=copy_to,
    )  # fmt: skip
    exports = Exports(har, video, filmstrip)
    if any(astuple(exports)):  # after the last load: nothing else may run during one
        for line in export_all(out, None, exports):
            hints.print(line, markup=False, soft_wrap=True)
    summary = make_report(out)
    with ending_at("report", summary.path, opens=open_, as_json=as_json):
        if not as_json:
            print_summary(summary)
        elif not conditions:
            print_json(summary.as_json())
        if conditions:
            verdicts = evaluate(conditions, summary.study)
            conclude(
                str(out), verdicts, junit, summary.as_json() if as_json else None, inconclusive
            )


def run_plan(
    plan: Plan,
    out: Path,
    *,
    resume: bool,
    resume_line: str,
    execution: Execution | None = None,
    peek: bool = False,
    cluster: Cluster = HERE,
    copy_to: str = "",
) -> None:
    """Run a plan's trials with progress; ends the command if it is interrupted.

    Effects are shown for a plan with a stop rule, or with `peek`.
    """
    execution = execution or Execution(trace_files=plan.trace_files)
    cluster.check(execution.jobs)
    check_execution(plan, execution.jobs, cluster.where)
    copies = CopyTo(copy_to)
    sites = open_pages(plan)
    driver = cluster.driver(out, plan, sites, execution)
    trials = prepare(plan, sites, out, resume=resume, loads_here=driver is None)
    if plan.stop and not resume:
        hints.print(foretell(plan, sites), markup=False, soft_wrap=True)
    archives = {
        key: str(site.path.resolve()) for key, site in key_recordings(sites, plan.variants).items()
    }
    rest = f"to load the rest: {resume_line}"
    facts = FactsSoFar(out)
    rule = stopping_rule(plan, out, facts, execution.budget_s)
    effects = live_effects(plan, out, peek=peek, facts=facts)
    status = StatusFile(out, resume_line)
    try:
        with (
            start_live_builds(plan, sites) as builds,
            copies.of(out, trials, are_beside_loads=bool(driver) or execution.jobs > 1),
        ):
            execution = replace(execution, live=builds)
            for line in describe_builds(builds, sites):
                hints.print(line, markup=False, soft_wrap=True)
            with show_progress(len(trials)) as show:
                seen = status.beside(show)
                result = run_trials(
                    trials, archives, out, seen, rule, execution, effects, driver, copies.committed
                )
            is_broken_off = result.interrupted or result.failure is not None
            status.write("interrupted" if is_broken_off else "ended")
            copies.finish(is_interrupted=is_broken_off)
    except (KeyboardInterrupt, Terminated):
        status.write("interrupted")
        what = "a load was aborted" if status.has_loaded else cluster.before_loads
        hints.print(f"{what}; {rest}", markup=False, soft_wrap=True)
        raise
    except LaterError:
        status.write("interrupted")
        hints.print(rest, markup=False, soft_wrap=True)
        raise
    if result.failure:
        raise AllFailedError(_describe_failure(result.failure, out))
    if result.interrupted:
        message = f"interrupted after {result.done} of {result.total} loads; {rest}"
        hints.print(message, markup=False, soft_wrap=True)
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.stopped:
        hints.print(f"stopped early: {result.stopped}", markup=False)


def _describe_failure(failure: Failure, out: Path) -> str:
    """Return why every load failed, and what to do."""
    detail = read_trial(out, failure.trial).record["outcome_detail"]
    sites = " and ".join(failure.sites)
    return (
        f"all {failure.loads} loads so far, of {sites}, ended as `{failure.outcome}`, so the run "
        f"was stopped: {detail}; mend this, then remove {out} and run it again"
    )


class CopyTo:
    """The copying of one run to a bucket; does nothing if `url` is "".

    Raises `BucketError` for an invalid URL, and for a bucket that does not answer.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._copies: Copies | None = None
        if url:
            # Imported here: few runs need it.
            from eyelevel.run.bucket.objects import check_url

            check_url(url)

    @contextmanager
    def of(
        self, directory: Path, trials: Sequence[Trial], *, are_beside_loads: bool
    ) -> Iterator[None]:
        """Begin copying, first what was committed before, and stop in order on exit.

        Raises `BucketError` if the bucket does not answer, and `DifferentError` if it has another
        run.
        """
        if not self._url:
            yield
            return
        from eyelevel.run.bucket.copies import Copies
        from eyelevel.run.bucket.layout import blocks_of
        from eyelevel.run.bucket.objects import open_objects

        self._copies = Copies(
            open_objects(self._url, is_new=True),
            self._url,
            directory,
            blocks_of((trial.block, trial.hash) for trial in trials),
            is_beside_loads=are_beside_loads,
            on_message=lambda line: say(hints, line),
        )
        try:
            with hints.waiting(f"copying to {self._url}") as status:
                self._copies.begin(status.update)
            yield
        finally:
            self._copies.close()

    def committed(self, names: Sequence[str]) -> None:
        """Queue newly committed trials."""
        if self._copies is not None:
            self._copies.committed(names)

    def finish(self, *, is_interrupted: bool) -> None:
        """Upload what is left. Raises `CopiesUnfinishedError` if the bucket does not answer."""
        if self._copies is None:
            return
        from eyelevel.run.bucket.copies import END_S_MAX

        with hints.waiting(f"copying to {self._url}") as status:
            self._copies.finish(0.0 if is_interrupted else END_S_MAX, status.update)
