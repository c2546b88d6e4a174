"""Repeat a bundled run on this machine, and compare the gains (`eyelevel rerun`)."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.metrics.catalogue import measure
from eyelevel.analysis.study import read_results
from eyelevel.analysis.two_runs import rerun_agrees
from eyelevel.base.errors import PlanError
from eyelevel.cli.finish import OpenOption, ending_at, resume_command
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, say
from eyelevel.cli.results.compare import print_conditions
from eyelevel.cli.results.gate import conclude
from eyelevel.cli.results.report import make_report, print_summary
from eyelevel.cli.run.run import run_plan
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.plan.plan import Plan
from eyelevel.run.bundle.unpack import check_sites, describe_access, describe_refusals, open_bundle
from eyelevel.run.study.loop import Execution

LEFT_SHOWN = 3


def rerun(
    file: Annotated[Path, typer.Argument(help="A bundle made by `eyelevel bundle`.")],
    out: Annotated[Path, typer.Option(help="The directory for original/ and again/.")],
    context: typer.Context,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier rerun.")] = False,
    allow_commands: Annotated[
        bool,
        typer.Option(
            "--allow-commands", help="Allow the bundle's plan to start the servers that it names."
        ),
    ] = False,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a bundle's plan again on its own recordings, and check that each gain agrees.

    The loads, their order and their seeds are the same. A gain agrees if the whole interval of
    its change lies within the smallest effect of interest, faster or slower. Exits 1 if one
    disagrees, and 3 if the runs cannot tell. A bundle's commands are printed with the paths that
    they may read; they run only with --allow-commands, and never see a home or a dot folder.
    """

    def allow(plan: Plan) -> None:
        _refuse_commands(file, plan, allowed=allow_commands)

    unpacked = open_bundle(file, out / "original", resume=resume, allow=allow)
    check_sites(unpacked, file)
    if unpacked.left:
        message = (
            f"left in {file} because its sender made them: {', '.join(unpacked.left[:LEFT_SHOWN])}"
        )
        more = len(unpacked.left) - LEFT_SHOWN
        say(hints, f"{message}, and {more} more" if more > 0 else message)
    again = out / "again"
    execution = Execution(host_wait_s=host_wait_s, trace_files=unpacked.plan.trace_files)
    run_plan(
        unpacked.plan,
        again,
        resume=resume,
        resume_line=resume_command(context),
        execution=execution,
    )
    summary = make_report(again)
    with ending_at("report", summary.path, opens=open_, as_json=as_json):
        if not as_json:
            print_summary(summary)
        before = read_results(unpacked.run, measure)
        metric = unpacked.plan.primary_metric
        limit = unpacked.plan.smallest_effect_of_interest
        comparison = rerun_agrees(before, summary.study, metric, limit)
        print_conditions(comparison)
        conclude(str(file), comparison.verdicts, None, comparison.as_json() if as_json else None)


def _refuse_commands(file: Path, plan: Plan, *, allowed: bool) -> None:
    """Print the commands that a bundle would run and the paths that they may read.

    Raises `PlanError` unless that is `allowed` and possible.
    """
    access = describe_access(plan)
    for each in access:
        say(hints, f"{file} {each}")
    if refused := describe_refusals(plan):
        raise PlanError(
            [
                f"{file}: it would show a program of its own what may hold your secrets: "
                f"{'; '.join(refused)}; ask its sender for a bundle that needs none of this, with "
                "the server's files in a folder of their own, such as /srv/NAME"
            ]
        )
    if access and not allowed:
        raise PlanError(
            [
                f"{file}: its plan starts programs on this machine, printed above; read them, "
                "and give --allow-commands to let them run"
            ]
        )
