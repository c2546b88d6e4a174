"""Put a text's claims to the test (`eyelevel replicate`)."""

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from eyelevel.analysis.run_files import read_stored_plan, read_table
from eyelevel.analysis.study import read_results
from eyelevel.analysis.trials.blocks import select_blocks
from eyelevel.analysis.trials.starvation import briefly
from eyelevel.base.errors import PlanError
from eyelevel.cli.finish import ending_at, resume_command
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.cli.probe.commands import HANDSHAKES
from eyelevel.cli.probe.servers import Handshakes, Kept, put_side_by_side
from eyelevel.cli.run.plan import open_pages
from eyelevel.cli.run.plan_text import budget_seconds, narrowing_of, parse_text
from eyelevel.cli.run.run import AllowHeterogeneousOption, Cluster, ClusterOption, run_plan
from eyelevel.cli.run.worker import TrustOption
from eyelevel.cli.values import duration
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.load.servers.known import OURS, PROGRAMS, parse_servers
from eyelevel.load.servers.visits import ADDRESSES, AS_THEY_COME
from eyelevel.plan.networks.compose import NetworkWords
from eyelevel.plan.plan import Plan
from eyelevel.replication.answers import Answers, MeasuredRun, answer_claims
from eyelevel.replication.claims import Claims, read_claims
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.expected import Scatter, measure_scatter
from eyelevel.replication.figures import FOLDER, Material
from eyelevel.replication.lab_handshakes import FILE, OVER_IPV6, RTT, LabHandshakes, name_server
from eyelevel.replication.page import Measured, write_page
from eyelevel.replication.parts import (
    BLOCKS_LEAST,
    Part,
    Timed,
    expect_decisions,
    fit_blocks,
    list_parts,
    order_parts,
    time_parts,
)
from eyelevel.report.charts.chart import FORMATS
from eyelevel.run.study.estimate import repetition_s
from eyelevel.run.study.loop import Execution
from eyelevel.sites.recorded import list_shipped
from eyelevel.store.directory import ENVIRONMENT_FILE, PLAN_FILE, STOP_FILE, list_committed
from eyelevel.store.disk import make_folder, write_result

PAGE = "claims.md"
HANDSHAKE_BLOCKS = 6
"""The blocks of handshakes: their times differ by hundredths of a round trip."""
SEED = 1


def replicate(
    context: typer.Context,
    text: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A text with claims, or a file of claims.")
    ],
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The time that all loads may take, such as `3h`; without it, a preset's blocks.",
        ),
    ] = None,
    networks: Annotated[
        str | None, typer.Option(help="Only these networks of the text's plans, by commas.")
    ] = None,
    stacks: Annotated[
        str | None, typer.Option(help="Only comparisons of these stacks, by commas.")
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option("--site", "--sites", help="Use this site, not the plan's; repeatable."),
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(min=1, help="At most this number of loads of each site.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The folder with the author's data sets, NAME.csv each.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory of the runs; `replications/NAME` by default.")
    ] = None,
    load: Annotated[
        bool,
        typer.Option("--load/--no-load", help="Make loads, or only read those that are there."),
    ] = True,
    follow_up: Annotated[
        bool,
        typer.Option(
            "--follow-up",
            help="Also load what tests a suspected cause, if the text has such a test.",
        ),
    ] = False,
    cluster: ClusterOption = "",
    allow_heterogeneous: AllowHeterogeneousOption = False,
    trust_network: TrustOption = False,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put the claims of a text to the test, and write a page with a verdict on each.

    The networks that promise most decisions in an hour come first, each as a run of its own. The
    same command continues after Ctrl-C, and --budget counts anew; runs that have ended stay as
    they are.
    """
    claims = read_claims(text)
    if data is not None and not data.is_dir():
        raise PlanError([f"--data {data}: there is no such folder; give that of the data sets"])
    directory = out or Path("replications") / claims.text.name
    narrowing = replace(narrowing_of(networks, stacks, blocks), sites=tuple(site or ()))
    handshakes = LabHandshakes(directory / FILE)
    if load:
        parts = list_parts(claims, list(list_shipped()), narrowing, follow_up=follow_up)
        budget_s = math.inf if budget is None else budget_seconds(budget)
        elsewhere = Cluster(cluster, allow_heterogeneous, trust_network)
        loads = _Loads(claims, directory, parts, budget_s, elsewhere, host_wait_s)
        _probe_absent(claims, handshakes.file)
        loads.make(resume_command(context))
    runs = _read_runs(claims, directory)
    sets, measured = DataSets(data), LabHandshakes(handshakes.file)
    found = answer_claims(claims, runs, sets, measured)
    figures = Material(claims, runs, sets, measured).draw()
    make_folder(directory / FOLDER if figures else directory)
    for each in figures:
        write_result(directory / each.file, FORMATS["svg"](each.chart))
    page = directory / PAGE
    write_result(page, write_page(found, _describe(runs), figures))
    with ending_at("page", page, as_json=as_json):
        if as_json:
            print_json(found.as_json())
        else:
            _print(found)


def _probe_absent(claims: Claims, file: Path) -> None:
    """Measure the handshakes of all servers over IPv4 and IPv6, unless the file has them.

    Without claims about handshakes it does nothing.
    """
    named = [name for each in claims.claims if each.is_of_handshakes for name in each.networks]
    if not named:
        return
    known = dict.fromkeys([*(name.removesuffix(OVER_IPV6) for name in named), OURS, *PROGRAMS])
    installed, missing = parse_servers(",".join(known))
    names = [each.name for each in installed]
    wanted = {name_server(name, family) for name in names for family in ADDRESSES}
    if wanted <= set(LabHandshakes(file).servers):
        return
    for name, get in missing.items():
        say(hints, f"{name} is not installed, so it has no handshakes:  {get}")
    make_folder(file.parent)
    draft = file.with_name(f".{file.name}")
    draft.unlink(missing_ok=True)
    config, kept = {**HANDSHAKES, "seed": SEED}, Kept(draft, resume=False)
    for family, address in ADDRESSES.items():
        say(hints, f"handshakes of {', '.join(names)} over {RTT} and IP{family}:")
        handshakes = Handshakes(",".join(names), (), None, AS_THEY_COME, address=address)
        put_side_by_side(handshakes, NetworkWords(rtt=RTT), config, HANDSHAKE_BLOCKS, kept)
    draft.replace(file)


class _Loads:
    """The loads of a text's parts within a time."""

    def __init__(
        self,
        claims: Claims,
        directory: Path,
        parts: Sequence[Part],
        budget_s: float,
        cluster: Cluster,
        host_wait_s: float,
    ) -> None:
        """Plan the loads and print their times.

        Raises `PlanError` for a part with loads of other sites, stacks or networks, and if the time
        is not enough for any part.
        """
        self._directory, self._cluster, self._host_wait_s = directory, cluster, host_wait_s
        self._end_s = time.monotonic() + budget_s
        timed = time_parts(parts, _parse, _repetition_s)
        waiting = [each for each in timed if not self._is_ended(each)]
        scatter = measure_scatter(_read_loads(claims, directory)) if waiting else Scatter()
        waiting = order_parts(expect_decisions(claims, waiting, scatter, budget_s))
        self._waiting = waiting
        for each in expect_decisions(claims, self._fit(waiting), scatter, math.inf):
            loads = each.plan.blocks * len(each.plan.sites) * len(each.plan.stacks)
            say(
                hints,
                f"{each.part.folder}: {each.part.claims} claims, {each.decisions:.1f} decisions "
                f"expected, {loads} loads, {duration(each.repetition_s * each.plan.blocks)}",
            )
        if waiting and not self._fit(waiting):
            blocks = min(BLOCKS_LEAST, *(each.plan.blocks for each in waiting))
            least = min(waiting, key=lambda each: each.repetition_s)
            raise PlanError(
                [
                    f"--budget: {blocks} blocks on {least.part.network} take "
                    f"{duration(least.repetition_s * blocks)} by the estimate; give at least "
                    "that, or fewer --sites"
                ]
            )

    def make(self, again: str) -> None:
        """Run one part after the other, as long as the time allows."""
        waiting = self._waiting
        while chosen := self._fit(waiting):
            # A part that ended early leaves its time to the others, a late one takes theirs.
            first, *later = chosen
            self._run(first, sum(each.repetition_s * each.plan.blocks for each in later), again)
            waiting = [each for each in waiting if each.part != first.part]
        if waiting:
            left_out = ", ".join(each.part.folder for each in waiting)
            say(hints, f"beyond the budget, which is over: {left_out}")

    def _fit(self, timed: Sequence[Timed]) -> list[Timed]:
        left_s = self._end_s - time.monotonic()
        return list(timed) if math.isinf(left_s) else fit_blocks(timed, left_s)

    def _run(self, timed: Timed, later_s: float, again: str) -> None:
        out = self._directory / timed.part.folder
        left_s = self._end_s - time.monotonic() - later_s
        plan, is_begun = timed.plan, (out / PLAN_FILE).exists()
        if is_begun:  # its loads are of a plan with that number of blocks
            plan = replace(plan, blocks=read_stored_plan(out).plan.blocks)
        execution = Execution(
            host_wait_s=self._host_wait_s,
            trace_files=plan.trace_files,
            budget_s=None if math.isinf(left_s) else left_s,
        )
        say(hints, f"{timed.part.folder}:")
        run_plan(
            plan, out, resume=is_begun, resume_line=again, execution=execution,
            cluster=self._cluster,
        )  # fmt: skip

    def _is_ended(self, timed: Timed) -> bool:
        """Return whether a part's run has ended, with all its blocks or by its time.

        Raises `PlanError` if it is of other sites, stacks or networks.
        """
        out = self._directory / timed.part.folder
        if not (out / PLAN_FILE).exists():
            return False
        stored = read_stored_plan(out)
        if _settings_of(stored.plan) != _settings_of(timed.plan):
            raise PlanError(
                [
                    f"{out}: its loads are of other sites or stacks; give the options of then, or "
                    "another --out"
                ]
            )
        there = list_committed(out)
        return (out / STOP_FILE).exists() or all(each.hash in there for each in stored.trials)


def _settings_of(plan: Plan) -> tuple[object, ...]:
    return plan.sites, plan.stacks, plan.networks, plan.comparisons


def _parse(part: Part) -> Plan:
    return parse_text(part.text, f"preset {part.preset}")


def _repetition_s(plan: Plan) -> float:
    return repetition_s(plan, open_pages(plan))


def _list_runs(claims: Claims, directory: Path) -> Iterator[tuple[str, str, Path]]:
    """Return the preset, network and directory of each run of a text that has loads."""
    for preset in claims.runs:
        for plan_file in sorted(directory.glob(f"{preset}-*/{PLAN_FILE}")):
            out = plan_file.parent
            networks = [each.name for each in read_stored_plan(out).plan.networks]
            # The name of another preset may begin with this one's.
            if [out.name] != [f"{preset}-{network}" for network in networks]:
                continue
            # One that was interrupted before its first load has none.
            if (out / ENVIRONMENT_FILE).exists() and list_committed(out):
                yield preset, networks[0], out


def _read_loads(claims: Claims, directory: Path) -> Iterator[tuple[Plan, pl.DataFrame]]:
    """Return the plan and the compared loads of each run of a text."""
    for _, _, out in _list_runs(claims, directory):
        stored = read_stored_plan(out)
        stacks = [stack.name for stack in stored.plan.stacks]
        yield stored.plan, select_blocks(read_table(out, stored), stacks).kept


def _read_runs(claims: Claims, directory: Path) -> dict[str, dict[str, MeasuredRun]]:
    """Return a text's runs by preset and network."""
    runs: dict[str, dict[str, MeasuredRun]] = defaultdict(dict)
    for preset, network, out in _list_runs(claims, directory):
        run = MeasuredRun(read_results(out))
        runs[preset][network] = run
        if run.withheld:
            say(hints, f"{out}: {run.withheld}, after removing {out}")
    return runs


def _describe(runs: dict[str, dict[str, MeasuredRun]]) -> Measured | None:
    every = [run for of_preset in runs.values() for run in of_preset.values()]
    if not every:
        return None
    lines, machines, withheld = [], dict[str, None](), []
    for run in every:
        found, kept = run.results, run.kept
        lines.append(
            f"{found.directory.name}: {kept.height} of {found.table.height} loads count, "
            f"{len(found.sites)} sites, {kept['repetition'].n_unique()} of {found.plan.blocks} "
            f"blocks, plan {found.plan_hash[:12]}"
        )
        if run.withheld:
            withheld.append(f"{found.directory.name} ({briefly(run.withheld)})")
        versions = found.environment.get("versions", {})
        machines[
            f"{versions.get('browser')}, kernel {versions.get('kernel')}, "
            f"{found.environment.get('cores')} cores of {found.environment.get('cpu')}, "
            f"eyelevel {versions.get('eyelevel')}"
        ] = None
    loads = sum(run.kept.height for run in every)
    seconds = sum(float(run.kept["wall_ms"].sum()) / 1000 for run in every)
    return Measured(loads, seconds, (*lines, *machines), tuple(withheld))


def _print(found: Answers) -> None:
    listing = table("claim", "", "verdict")
    listing.columns[-1].no_wrap = True  # half a verdict would be another one
    for each in found.measured:
        listing.add_row(each.claim.id, each.claim.claim, each.words)
    results.print(listing)
    say(
        results,
        f"{len(found.measured)} of {len(found.answers)} claims were measured: "
        f"{found.count('agrees')} agree, {found.count('disagrees')} disagree, "
        f"{found.count('cannot tell')} cannot be told; on average at most "
        f"{found.false_verdicts_max:.2f} of these verdicts are false",
    )
