"""Run a first comparison (`eyelevel demo`)."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.finish import OpenOption, end_at
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, say
from eyelevel.cli.results.report import make_report, print_summary
from eyelevel.cli.run.plan_text import read_plan
from eyelevel.cli.run.run import run_plan
from eyelevel.cli.welcome import OWN
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.run.study.loop import Execution

PRESET = "quickstart"
OUT = Path("results") / PRESET
BEGINNING = (
    "loading two recorded sites over two networks and three stacks, three times each: 36 "
    "loads, about three minutes; Ctrl-C stops it, and the same command continues"
)


def demo(
    out: Annotated[Path, typer.Option(help="Directory for the results.")] = OUT,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run a first comparison: two recorded sites, two networks, three stacks, three minutes.

    This is `eyelevel run quickstart`. Finished loads are kept: the same command continues where it
    stopped.
    """
    plan = read_plan(PRESET, [])
    say(hints, BEGINNING)
    elsewhere = [] if out == OUT else ["--out", str(out)]
    again = shlex.join(["eyelevel", "demo", *elsewhere])
    execution = Execution(host_wait_s=host_wait_s, trace_files=plan.trace_files)
    run_plan(plan, out, resume=True, resume_line=again, execution=execution)
    summary = make_report(out)
    if as_json:
        print_json(summary.as_json())
    else:
        print_summary(summary)
        say(hints, f"to ask about your own page: {OWN[0]}")
    end_at("report", summary.path, opens=open_, as_json=as_json)
