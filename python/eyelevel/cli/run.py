"""`eyelevel run`: a plan from its first load to its report."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from eyelevel.cli.durations import duration
from eyelevel.cli.output import hints, print_json
from eyelevel.cli.plan_text import read_plan
from eyelevel.cli.report import make_report, print_summary
from eyelevel.run import open_site, prepare, run_trials, stopping_rule
from eyelevel.run.loop import Progress as RunProgress

EXIT_INTERRUPTED = 130


def run(
    plan: Annotated[str, typer.Argument(help="A plan file (TOML), or a preset's name.")],
    out: Annotated[Path, typer.Option(help="Directory of the results.")],
    site: Annotated[
        list[str] | None, typer.Option(help="Of a preset: recorded sites instead of its own.")
    ] = None,
    scale: Annotated[str, typer.Option(help="Of a preset: `small` makes a smoke test.")] = "full",
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Load every site of a plan over every network and stack, then report.

    Ctrl-C ends after the current load; run again with --resume to continue.
    """
    parsed = read_plan(plan, site or [], scale)
    sites = [open_site(name) for name in parsed.sites]
    trials = prepare(parsed, sites, out, resume=resume)
    archives = {each.name: str(each.path.resolve()) for each in sites}
    with _progress_bar() as bar:
        task = bar.add_task("starting", total=len(trials), left="", problems="")

        def show(progress: RunProgress) -> None:
            bar.update(task, completed=progress.done, **_texts(progress))

        result = run_trials(trials, archives, out, show, stopping_rule(parsed, out))
    if result.interrupted:
        hints.print(
            f"interrupted after {result.done} of {result.total} loads; the rest: "
            f"eyelevel run {plan} --out {out} --resume"
        )
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.stopped:
        hints.print(f"stopped early: {result.stopped}", markup=False)
    summary = make_report(out)
    if as_json:
        print_json(summary.as_json())
    else:
        print_summary(summary)


def _progress_bar() -> Progress:
    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[problems]}", style="yellow", markup=False),
        console=hints,
    )


def _texts(progress: RunProgress) -> dict[str, str]:
    problems = {name: n for name, n in progress.outcomes.items() if name != "ok"}
    trial = progress.trial
    return {
        "description": f"{trial.site} {trial.network} {trial.arm}" if trial else "",
        "left": f"{duration(progress.left_s)} left" if progress.left_s else "",
        "problems": ", ".join(f"{count} {name}" for name, count in sorted(problems.items())),
    }
