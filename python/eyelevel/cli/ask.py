"""`eyelevel ask`: one question about one site, run until the answer is sure enough."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import print_json, results
from eyelevel.cli.report import make_report
from eyelevel.cli.run import run_plan
from eyelevel.metrics import PRIMARY_METRICS
from eyelevel.plan import PlanError, parse_plan
from eyelevel.plan.change import BLOCKS_MAX, DEFAULT_BASE, question_plan
from eyelevel.report import summary_of
from eyelevel.run import matching, shipped


def ask(
    site: Annotated[
        str, typer.Argument(help="A recorded site: its file, or a shipped one's name.")
    ],
    change: Annotated[
        str, typer.Option(help='What is changed: "http3", "iw=10→32", "cc=bbr", "tcp→quic".')
    ],
    networks: Annotated[str, typer.Option(help="Networks, with commas between.")] = "dsl,lte",
    base: Annotated[str, typer.Option(help="The stack that is changed.")] = DEFAULT_BASE,
    blocks: Annotated[int, typer.Option(min=2, help="Blocks at most.")] = BLOCKS_MAX,
    out: Annotated[Path | None, typer.Option(help="Directory of the results.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a question until its answer is sure enough, and say it in a sentence.

    It stops once each interval is at most 10 percentage points wide or inside of what matters, or
    once that cannot be reached; the intervals hold however often they are looked at.
    """
    if site.startswith(("http://", "https://")):
        raise PlanError([f"`{site}` is not recorded yet; record it first and give its file"])
    chosen = [name.strip() for name in networks.split(",") if name.strip()]
    text = question_plan([site], change, chosen, base, blocks)
    plan = parse_plan(
        text,
        f"--change {change}",
        site_names=shipped(),
        metric_names=PRIMARY_METRICS,
        matching=matching,
    )
    directory = out or Path("results") / _folder(site, change)
    again = "give the same command with --resume"
    run_plan(plan, directory, resume=resume, how_to_resume=again)
    summary = make_report(directory)
    if as_json:
        print_json(summary.as_json())
        return
    findings = summary_of(summary.contents)
    for sentence in (*findings["answer"], *findings["warnings"]):
        results.print(sentence, markup=False)
    results.print(f"report: {summary.path}", markup=False, soft_wrap=True)


def _folder(site: str, change: str) -> str:
    words = f"{Path(site).stem}-{change}".lower()
    return "".join(sign if sign.isalnum() or sign in "+-." else "-" for sign in words)
