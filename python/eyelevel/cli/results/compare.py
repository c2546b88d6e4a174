"""Compare two runs that could not be one (`eyelevel compare`); exits 1 on a regression."""

import os
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.gate import GateError
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME, measure
from eyelevel.analysis.study import read_results
from eyelevel.analysis.two_runs import RunComparison, compare_runs
from eyelevel.base.errors import unknown
from eyelevel.cli.finish import OpenOption, PageOption, check_opens, ending_at
from eyelevel.cli.output import hints
from eyelevel.cli.results.gate import InconclusiveOption, conclude
from eyelevel.plan.user_timings import full_name, is_user_timing, with_short_names
from eyelevel.report.pages.comparison import comparison_page
from eyelevel.store.disk import write_result


def compare(
    old: Annotated[Path, typer.Argument(help="The directory of the earlier run.")],
    new: Annotated[Path, typer.Argument(help="The directory of the later run.")],
    metric: Annotated[
        str | None,
        typer.Option(help="The metric to compare; by default the later plan's primary metric."),
    ] = None,
    by: Annotated[
        float | None,
        typer.Option(
            min=0,
            help=(
                "How many percent slower counts as a regression; by default the smallest "
                "effect of interest."
            ),
        ),
    ] = None,
    control_stack: Annotated[
        str | None,
        typer.Option(
            metavar="STACK",
            help="The stack that did not change between the runs: every other one is compared "
            "with it within its run. By default the reference of the later plan.",
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    inconclusive: InconclusiveOption = None,
    page: PageOption = None,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two runs that could not be one plan, and say how each gain changed.

    If both builds can be loaded, put them into one plan as two stacks, so that their loads
    share blocks. Here, a stack that did not change stands in for everything else that did,
    which assumes that stacks change alike from run to run. Exits 1 on a regression, 3 if
    inconclusive, and 4 if there is no such stack and so no verdict.
    """
    check_opens(open_, page, "page", "--page FILE.html")
    cores = len(os.sched_getaffinity(0))
    before, after = (read_results(directory, measure, cores) for directory in (old, new))
    columns = before.blocks.kept.columns, after.blocks.kept.columns
    timings = [name for name in columns[0] if is_user_timing(name) and name in columns[1]]
    known = [*METRICS_BY_NAME, *timings]
    name = full_name(metric or after.primary_metric, known)
    if name not in known:
        raise GateError(f"--metric: {unknown('metric', name, with_short_names(known))}")
    bound = after.smallest_effect if by is None else by / 100
    comparison = compare_runs(before, after, name, bound, control_stack)
    print_conditions(comparison)
    extra = comparison.as_json() if as_json else None
    if page:
        write_result(page, comparison_page(str(old), str(new), comparison))
    with (
        ending_at("page", page, opens=open_, as_json=as_json),
        ending_at("verdicts", junit, as_json=as_json),
    ):
        conclude(f"{old} to {new}", comparison.verdicts, junit, extra, inconclusive)


def print_conditions(comparison: RunComparison) -> None:
    """Print the conditions of verdicts on two runs to standard error."""
    for difference in comparison.differences:
        hints.print(f"not alike: {difference}", markup=False, soft_wrap=True)
    for sentence in (comparison.assumption, comparison.level):
        if sentence:
            hints.print(sentence, markup=False, soft_wrap=True)
