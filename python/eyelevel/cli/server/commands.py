"""The group `eyelevel server`: compare a server with level stacks, check it, print recipes."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import INTERRUPTS, LabError, PlanError, unknown
from eyelevel.calibration.level.report_card import (
    CHECKED,
    VERSION_NAMES,
    Finding,
    card_lines,
    judge_server,
    order_findings,
    read_costs,
)
from eyelevel.calibration.measuring.downloads import (
    NETWORK,
    SIZES,
    measure_downloads,
    summarise_downloads,
)
from eyelevel.calibration.measuring.measure import stacks_of, validate_level
from eyelevel.calibration.measuring.runs import RunError, try_transfer
from eyelevel.cli.finish import OpenOption
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.cli.results.report import Summary, print_summary
from eyelevel.cli.run.ask import conclude, run_question
from eyelevel.cli.run.plan import open_pages
from eyelevel.cli.validate.commands import show_level_progress
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.load.servers.known import INTEROP, Start
from eyelevel.load.servers.recipes import RECIPES, check_program, get_recipe
from eyelevel.load.traces import read_stages, read_trace_file
from eyelevel.load.trial import run_trial
from eyelevel.plan.file.change import BLOCKS_MAX
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.server_question import (
    LEVEL,
    ComparedServer,
    name_of_command,
    server_plan,
)
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import EXTERNAL_SERVER_MARK, HttpVersion, Stack
from eyelevel.plan.trials import Site, Trial, expand
from eyelevel.report.sections.level_distances import describe_level_distances
from eyelevel.run.block.attempts import RETRIES, with_retries
from eyelevel.run.study.loop import Execution
from eyelevel.sites.recorded import list_shipped, matching
from eyelevel.store.outcomes import COUNTED

app = typer.Typer(help="Tell a protocol's difference from a server's own.", no_args_is_help=True)
SITE = "agency"
NETWORKS = "dsl,lte"
VERSIONS: tuple[HttpVersion, ...] = ("h2", "h3")
PROTOCOLS = ",".join(VERSIONS)
CHECK_S = 280.0
"""The time for a check's runs, out of the five minutes that it may take."""
EXIT_FAULTS = 1
ServerArgument = Annotated[
    str,
    typer.Argument(
        help=f"A server's command, or a recipe: {', '.join(RECIPES)}; {INTEROP} with the command "
        "of a server for the QUIC interop runner behind it."
    ),
]
ProtocolsOption = Annotated[
    str | None,
    typer.Option(
        help="The server's protocols, separated by a comma; the others are left out. By default "
        f"those of the recipe, or {PROTOCOLS}."
    ),
]
PathsOption = Annotated[
    list[str] | None, typer.Option(help="A file or folder that the command may read; repeatable.")
]


@app.command("compare")
def compare_server(
    server: ServerArgument,
    site: Annotated[
        list[str] | None, typer.Option(help=f"A recorded site; repeatable; {SITE} by default.")
    ] = None,
    networks: Annotated[str, typer.Option(help="Networks, separated by commas.")] = NETWORKS,
    protocols: ProtocolsOption = None,
    path: PathsOption = None,
    as_deployed: Annotated[
        bool,
        typer.Option(
            "--as-deployed",
            help="Give the server the kernel's own settings of TCP (initial window 10, its own "
            "buffers) instead of the level ones.",
        ),
    ] = False,
    blocks: Annotated[int, typer.Option(min=2, help="The largest number of blocks.")] = BLOCKS_MAX,
    out: Annotated[Path | None, typer.Option(help="Directory for the results.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer whether it is HTTP/3, or a server's HTTP/3, with as many loads as it takes.

    Each page is loaded over four stacks: two that are level, and the server's HTTP/2 and HTTP/3.
    The server's HTTP/3 against its HTTP/2 is divided into the difference of the protocols alone,
    and how far each of the server's is from the level one. First each of the server's stacks loads
    each site once: a server that does not send what was recorded is not compared. Exits with 3 if
    a comparison has no verdict.
    """
    _refuse_interop(server)
    asked = _read_server(server, path or [], protocols, is_as_deployed=as_deployed)
    sites = site or [SITE]
    names = [name.strip() for name in networks.split(",") if name.strip()]
    plan = _parse(server_plan(asked, sites, names, blocks))
    stems = [Path(name).stem for name in sites]
    deployed = ["as-deployed"] if as_deployed else []
    folder = "-".join(["server", asked.name, *stems, *deployed])
    directory = out or Path("results") / folder
    if not resume:
        _try_server(plan, server)
    execution = Execution(host_wait_s=host_wait_s, trace_files=plan.trace_files)
    with run_question(
        plan, directory, execution, _print_answer, resume=resume, opens=open_, as_json=as_json
    ) as summary:
        conclude(summary)


@app.command("check")
def check_server(
    server: ServerArgument,
    protocols: ProtocolsOption = None,
    path: PathsOption = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again, even what is kept.")
    ] = False,
    _unsafe_browser: UnsafeBrowserOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a server's report card: each aspect against its RFC and a level stack, from outside.

    It takes at most five minutes, from the path's packets, Chromium's log and our own client. The
    cost of a fault is that of the same fault in our own servers. Exits 1 if something is broken or
    costs pages time.
    """
    _refuse_interop(server)
    asked, stacks = _read_stacks(server, path, protocols)
    findings: list[Finding] = []
    failures: list[str] = []
    share_s = CHECK_S / len(asked.versions)
    try:
        with show_level_progress() as on_step:
            for version in asked.versions:
                of_level, of_server = _pair_of_card(asked, stacks, version)
                _check_responds(of_server, server)
                level = validate_level(
                    of_level,
                    of_server,
                    on_step,
                    fresh=fresh,
                    budget_s=share_s,
                    limit_s=share_s,
                    scenarios=CHECKED,
                )
                findings += judge_server(
                    version, of_server.name, level.rows, CHECKED, level.failed, read_costs()
                )
                failures += level.failed
    except INTERRUPTS:
        hints.print("what was measured is kept; the same command continues where it stopped")
        raise
    findings = order_findings(findings)
    if as_json:
        card = [each.as_json() for each in findings]
        print_json({"server": asked.name, "findings": card, "failed": failures})
    else:
        for line in card_lines(asked.name, findings):
            results.print(line, markup=False, soft_wrap=True)
        for sentence in failures:
            hints.print(sentence, markup=False, soft_wrap=True)
    if any(each.grade in ("broken", "costs pages time") for each in findings):
        raise typer.Exit(EXIT_FAULTS)


@app.command("bulk")
def download_from_server(
    server: ServerArgument,
    protocols: ProtocolsOption = None,
    path: PathsOption = None,
    bytes_max: Annotated[
        int, typer.Option(min=min(SIZES), help="The largest download; smaller ones have a tenth.")
    ] = max(SIZES),
    runs: Annotated[int, typer.Option(min=1, max=100, help="Downloads of each size.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure downloads by our own client: rate, and processor time per byte of both ends.

    The server's HTTP/2 and HTTP/3 alternate with the level stacks, over a made network of 100
    Mbit/s and 40 ms. A browser takes no part.
    """
    _, stacks = _read_stacks(server, path, protocols)
    for stack in stacks:
        if not stack.is_ours:
            _check_responds(stack, server)
    sizes = [size for size in SIZES if size <= bytes_max]

    def on_step(number: int, total: int, stack: str, size: int) -> None:
        hints.print(f"download {number}/{total}: {size:,} bytes, {stack}", markup=False)

    downloads = measure_downloads(stacks, sizes, runs, on_step)
    if lost := len(sizes) * runs * len(stacks) - len(downloads):
        hints.print(f"{lost} downloads are left out: the machine starved each of their tries")
    rows = summarise_downloads(downloads)
    if as_json:
        network = {"rate_bit_s": NETWORK.rate_down_bit_s, "rtt_ms": NETWORK.rtt_ms_min}
        print_json({"network": network, "downloads": [row.as_json() for row in rows]})
        return
    numbers = ("bytes", "runs", "Mbit/s", "range", "server ns/B", "client ns/B")
    listing = table("stack", *numbers, right=numbers)
    for row in rows:
        listing.add_row(
            row.stack,
            f"{row.body_bytes:,}",
            str(row.runs),
            f"{row.mbit_s:.1f}",
            f"{row.mbit_s_min:.1f} to {row.mbit_s_max:.1f}",
            f"{row.server_ns_per_byte:.1f}",
            f"{row.client_ns_per_byte:.1f}",
        )
    results.print(listing)


@app.command("recipe")
def print_recipe(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(RECIPES)}.")],
) -> None:
    """Print a recipe, to change it and give it as a command."""
    if name not in RECIPES:
        raise PlanError([unknown("recipe", name, RECIPES)])
    results.file.write(RECIPES[name].file.read_text("utf-8"))


def _check_responds(stack: Stack, server: str) -> None:
    """Transfer a body from the server once. Raises PlanError if it sends none."""
    try:
        try_transfer(stack)
    except RunError:
        pass  # the machine was too busy, which the runs wait for
    except LabError as error:
        attempt = f"trying {VERSION_NAMES[stack.http_version]} of `{server}`"
        raise PlanError([f"{attempt}: {error}"]) from error


def _print_answer(summary: Summary) -> None:
    sentences = describe_level_distances(summary.study)
    if not sentences:  # one protocol alone, or nothing in common
        print_summary(summary)
    for sentence in sentences:
        results.print(sentence, markup=False)


def _read_server(
    text: str, paths: list[str], protocols: str | None, *, is_as_deployed: bool
) -> ComparedServer:
    """Return the server of a recipe's name or a command. Raises PlanError and ProbeError."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise PlanError(
            [f"reading the command `{text}`: {error}; close what is open, or escape it"]
        ) from error
    if not words:
        raise PlanError([f"the command is empty; write one, or a recipe ({', '.join(RECIPES)})"])
    # The name of another program with options is a command.
    recipe = RECIPES.get(words[0]) if len(words) == 1 or words[0] == INTEROP else None
    if protocols is None:
        protocols = ",".join(recipe.versions if recipe else VERSIONS)
    versions = [word.strip() for word in protocols.split(",") if word.strip()]
    for word in versions:
        if word not in VERSIONS:
            raise PlanError([f"--protocols: {unknown('protocol', word, VERSIONS)}"])
    if not versions:
        raise PlanError(["--protocols: it names none; write h2, h3 or both: `h2,h3`"])
    chosen = tuple(version for version in VERSIONS if version in versions)
    if recipe:
        start = get_recipe(words[0], words[1:])
    else:
        check_program(words[0])
        start = Start(words)
    all_paths = (*start.paths, *paths)
    return ComparedServer(name_of_command(words), start.command, all_paths, chosen, is_as_deployed)


def _refuse_interop(server: str) -> None:
    """Raise PlanError for a server whose page loads cannot be compared."""
    if server.split()[:1] == [INTEROP]:
        raise PlanError(
            [
                f"comparing page loads of `{server}`: a server for the QUIC interop runner sends "
                "files without the recorded fields, codings and status, so its pages are others; "
                f'use `eyelevel server bulk` or `eyelevel probe servers --server "NAME={INTEROP} '
                'COMMAND"`'
            ]
        )


def _read_stacks(
    server: str, paths: list[str] | None, protocols: str | None
) -> tuple[ComparedServer, list[Stack]]:
    """Return a server and its stacks, after the level ones, as the level measures them."""
    compared = _read_server(server, paths or [], protocols, is_as_deployed=False)
    return compared, stacks_of(_parse(server_plan(compared, [SITE], NETWORKS.split(","), 2)))


def _pair_of_card(
    compared: ComparedServer, stacks: Sequence[Stack], version: HttpVersion
) -> tuple[Stack, Stack]:
    """Return the stacks that a report card of an HTTP version compares: the level one first.

    That one sends tickets. By default it sends none on a first visit, and would make a server that
    has none its equal.
    """
    by_name = {stack.name: stack for stack in stacks}
    level = replace(by_name[LEVEL[version]], session_tickets=True)
    return level, by_name[compared.stack_name(version) + EXTERNAL_SERVER_MARK]


def _parse(text: str) -> Plan:
    return parse_plan(
        text,
        "server",
        site_names=list_shipped(),
        matching=matching,
        readers=Readers(read_trace_file, read_stages, find_recorded_pair),
    )


def _try_server(plan: Plan, server: str) -> None:
    """Load each site once over each of the server's stacks, on the first network.

    Raises PlanError with the first reason for which such a load would not count.
    """
    sites = {each.name: each for each in open_pages(plan)}
    trials = expand(plan, [Site(name, each.of_plan().digest) for name, each in sites.items()])
    tried: set[tuple[str, str]] = set()

    def is_external(trial: Trial) -> bool:
        return not trial.stack_settings.is_ours

    for trial in trials:
        key = (trial.site, trial.stack)
        if not is_external(trial) or trial.network != plan.networks[0].name or key in tried:
            continue
        tried.add(key)
        version = VERSION_NAMES[trial.stack_settings.http_version]
        hints.print(f"trying {version} with {trial.site}", markup=False)
        archive = str(sites[trial.site].path.resolve())
        load = partial(run_trial, trial, archive, trace_files=plan.trace_files)
        record = with_retries(load, RETRIES).record
        if record["outcome"] not in (*COUNTED, "timeout"):
            text = f"trying {version} of `{server}` with {trial.site}: {record['outcome_detail']}"
            others = {each.stack_settings.http_version for each in trials if is_external(each)}
            for other in others - {trial.stack_settings.http_version}:
                text += f"; give --protocols {other} to try the other alone"
            raise PlanError([text])
