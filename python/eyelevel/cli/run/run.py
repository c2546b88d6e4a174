"""`eyelevel run`: a plan from its first load to its report."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from eyelevel.analysis.gate import evaluate
from eyelevel.analysis.gate_conditions import check_conditions
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json
from eyelevel.cli.results.export import Exports, export_all
from eyelevel.cli.results.gate import UnsureOption, conclude, read_conditions
from eyelevel.cli.results.report import make_report, print_summary
from eyelevel.cli.run.copies import CopyTo
from eyelevel.cli.run.plan_text import Corpus, Traces, preset_options, read_plan
from eyelevel.cli.run.sites import open_sites
from eyelevel.cli.run.worker import TrustOption, check_installed
from eyelevel.cli.values import duration
from eyelevel.errors import LaterError, Terminated
from eyelevel.plan.plan import Plan
from eyelevel.run.block.attempts import RETRIES, RETRIES_MAX
from eyelevel.run.study.effects import live_effects
from eyelevel.run.study.jobs import check_jobs
from eyelevel.run.study.loop import Driver, Execution, run_trials
from eyelevel.run.study.prepare import prepare
from eyelevel.run.study.progress import Progress as RunProgress
from eyelevel.run.study.stopping import stopping_rule
from eyelevel.run.trial.quiet_host import WAIT_S_MAX
from eyelevel.sites.recorded import RecordedSite

EXIT_INTERRUPTED = 130
ENDING = "ending after the current load; Ctrl-C again breaks it off"

Jobs = Annotated[int, typer.Option(min=1, help="Labs side by side, each on two cores of its own.")]
ClusterOption = Annotated[
    str,
    typer.Option(
        metavar="WHERE", help="Slots elsewhere: local:N, listen:HOST:PORT, a scheduler's address."
    ),
]
CopyToOption = Annotated[
    str,
    typer.Option(
        metavar="URL", help="Copy each block to a bucket: s3://, gs://, az:// or file:///PATH."
    ),
]
Retries = Annotated[
    int,
    typer.Option(min=0, max=RETRIES_MAX, help="Of a load that the instrument failed, at most."),
]


def run(
    plan: Annotated[str, typer.Argument(help="A plan file (TOML), or a preset's name.")],
    out: Annotated[Path, typer.Option(help="Directory of the results.")],
    site: Annotated[
        list[str] | None, typer.Option(help="Of a preset: recorded sites instead of its own.")
    ] = None,
    corpus: Corpus = None,
    traces: Traces = None,
    scale: Annotated[str, typer.Option(help="Of a preset: `small` makes a smoke test.")] = "full",
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    peek: Annotated[
        bool, typer.Option("--peek", help="Show gains as they come, by wider intervals.")
    ] = False,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help='Exit 1 where "quic.speed_index.p50 worse than tcp+ by 5%" holds.'),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Of --fail-if: write JUnit's XML.")] = None,
    unsure: UnsureOption = None,
    har: Annotated[bool, typer.Option("--har", help="DIR/exports: HASH.har of each load.")] = False,
    video: Annotated[bool, typer.Option("--video", help="There: HASH.mp4 of each.")] = False,
    filmstrip: Annotated[bool, typer.Option("--filmstrip", help="There: the pictures.")] = False,
    jobs: Jobs = 1,
    cluster: ClusterOption = "",
    trust_network: TrustOption = False,
    copy_to: CopyToOption = "",
    retries: Retries = RETRIES,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Load every site of a plan over every network and stack, then report.

    Ctrl-C ends after the current load; run again with --resume to continue.
    """
    parsed = read_plan(plan, site or [], scale, corpus=corpus, traces=traces)
    conditions = read_conditions(fail_if, parsed)
    check_conditions(conditions, parsed.blocks, may_stop=parsed.stop is not None)
    asked = preset_options(site or [], scale, corpus, traces)
    copies = ["--copy-to", str(copy_to)] if copy_to else []
    words = ["eyelevel", "run", plan, *asked, "--out", str(out), "--resume", *copies]
    again = shlex.join(words)
    execution = Execution(retries, jobs, host_wait_s, parsed.trace_files)
    run_plan(
        parsed, out, resume=resume, how_to_resume=again, execution=execution, peek=peek,
        cluster=cluster, trust_network=trust_network, copy_to=copy_to,
    )  # fmt: skip
    exports = Exports(har, video, filmstrip)
    if any(astuple(exports)):  # after the last load: nothing else may run beside one
        for line in export_all(out, None, exports):
            hints.print(line, markup=False, soft_wrap=True)
    summary = make_report(out)
    if not as_json:
        print_summary(summary)
    elif not conditions:
        print_json(summary.as_json())
    if conditions:
        verdicts = evaluate(conditions, summary.contents)
        conclude(str(out), verdicts, junit, summary.as_json() if as_json else None, unsure)


def run_plan(
    plan: Plan,
    out: Path,
    *,
    resume: bool,
    how_to_resume: str,
    execution: Execution | None = None,
    peek: bool = False,
    cluster: str = "",
    trust_network: bool = False,
    copy_to: str = "",
) -> None:
    """Run a plan's trials with progress shown; ends the command if it is interrupted.

    Effects are shown of a plan that may stop, or with `peek`.
    """
    execution = execution or Execution(trace_files=plan.trace_files)
    check_jobs(execution.jobs)
    copies = CopyTo(copy_to)
    sites = open_sites(plan.sites)
    driver = None
    if cluster:
        driver = _cluster_driver(cluster, out, plan, sites, execution, is_trusted=trust_network)
    trials = prepare(plan, sites, out, resume=resume)
    archives = {site.name: str(site.path.resolve()) for site in sites}
    rest = f"the rest: {how_to_resume}"
    rule, effects = stopping_rule(plan, out), live_effects(plan, out, peek=peek)
    try:
        with copies.of(out, trials, are_beside_loads=bool(cluster) or execution.jobs > 1):
            with _shown_progress(len(trials)) as show:
                result = run_trials(
                    trials, archives, out, show, rule, execution, effects, driver, copies.committed
                )
            copies.finish(is_interrupted=result.interrupted)
    except (KeyboardInterrupt, Terminated):
        hints.print(f"a load was broken off; {rest}", markup=False, soft_wrap=True)
        raise
    except LaterError:
        hints.print(rest, markup=False, soft_wrap=True)
        raise
    if result.interrupted:
        message = f"interrupted after {result.done} of {result.total} loads; {rest}"
        hints.print(message, markup=False, soft_wrap=True)
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.stopped:
        hints.print(f"decided early: {result.stopped}", markup=False)


def _cluster_driver(
    where: str,
    out: Path,
    plan: Plan,
    sites: Sequence[RecordedSite],
    execution: Execution,
    *,
    is_trusted: bool,
) -> Driver:
    check_installed()
    # Imported where it is used: Dask takes long, and few runs need it.
    from eyelevel.cluster.driver import cluster_driver

    return cluster_driver(
        where, out, plan, sites, execution, mixed=False, is_trusted=is_trusted, told=hints.print
    )


@contextmanager
def _shown_progress(total: int) -> Iterator[Callable[[RunProgress], None]]:
    """A bar, and lines above it: effects, if they are shown, and that an interrupt was heard."""
    printed: dict[str, str] = {}
    with _progress_bar() as bar:
        task = bar.add_task("starting", total=total, left="", problems="")

        def show(progress: RunProgress) -> None:
            description, left, problems = _texts(progress)
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                refresh=True,
                description=description,
                left=left,
                problems=problems,
            )
            lines = {
                "effects": progress.effects,
                "decided": f"decided: {progress.decided}" if progress.decided else "",
                "ending": ENDING if progress.ending else "",
            }
            for about, line in lines.items():
                if line and line != printed.get(about):
                    printed[about] = line
                    bar.console.print(line, markup=False, soft_wrap=True)

        yield show


def _progress_bar() -> Progress:
    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[problems]}", style="yellow", markup=False),
        console=hints,
        auto_refresh=False,  # nothing is drawn beside a load, only before and after it
    )


def _texts(progress: RunProgress) -> tuple[str, str, str]:
    """What is done, the time left, and outcomes other than `ok`."""
    problems = {name: n for name, n in progress.outcomes.items() if name != "ok"}
    trial = progress.trial
    return (
        progress.waiting or (f"{trial.site} {trial.network} {trial.stack}" if trial else ""),
        f"{duration(progress.left_s)} left" if progress.left_s else "",
        ", ".join(f"{count} {name}" for name, count in sorted(problems.items())),
    )
