"""`eyelevel rerun`: repeat a bundled run on this machine and compare."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.study import read_contents
from eyelevel.analysis.two_runs import compare_runs
from eyelevel.cli.options import HostWaitOption
from eyelevel.cli.output import hints
from eyelevel.cli.results.gate import conclude
from eyelevel.cli.results.report import make_report, print_summary
from eyelevel.cli.run.run import run_plan
from eyelevel.metrics.compute import metrics_of
from eyelevel.run.bundle.bundle import open_bundle
from eyelevel.run.study.loop import Execution
from eyelevel.run.trial.quiet_host import WAIT_S_MAX


def rerun(
    file: Annotated[Path, typer.Argument(help="A bundle, from `eyelevel bundle`.")],
    out: Annotated[Path, typer.Option(help="The directory: original/ and again/ go there.")],
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier rerun.")] = False,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a bundle's plan again on its own recordings, and compare both runs.

    The same loads in the same order with the same seeds. Exits 1 if a stack is slower than it
    was by more than the smallest effect of interest, 3 where the runs cannot tell.
    """
    unpacked = open_bundle(file, out / "original", resume=resume)
    again = out / "again"
    rest = f"eyelevel rerun {file} --out {out} --resume"
    execution = Execution(host_wait_s=host_wait_s, trace_files=unpacked.plan.trace_files)
    run_plan(unpacked.plan, again, resume=resume, how_to_resume=rest, execution=execution)
    summary = make_report(again)
    if not as_json:
        print_summary(summary)
    before = read_contents(unpacked.run, metrics_of)
    metric = unpacked.plan.primary_metric
    bound = unpacked.plan.smallest_effect_of_interest
    comparison = compare_runs(before, summary.contents, metric, bound)
    for difference in comparison.differences:
        hints.print(f"not alike: {difference}", markup=False, soft_wrap=True)
    extra = {"metric": metric, "differences": list(comparison.differences)}
    conclude(str(file), comparison.verdicts, None, extra if as_json else None)
