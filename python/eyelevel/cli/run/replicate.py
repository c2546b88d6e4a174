"""Put a text's claims to the test (`eyelevel replicate`)."""

import math
import shlex
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.base.errors import PlanError, WriteError
from eyelevel.cli.finish import ending_at
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.cli.probe.commands import HANDSHAKES
from eyelevel.cli.probe.servers import BLOCKS, Handshakes, Kept, put_side_by_side
from eyelevel.cli.run.plan import open_pages
from eyelevel.cli.run.plan_text import budget_seconds, narrowing_of, parse_text
from eyelevel.cli.run.run import AllowHeterogeneousOption, Cluster, ClusterOption, run_plan
from eyelevel.cli.run.worker import TrustOption
from eyelevel.cli.values import duration
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.load.servers.visits import AS_THEY_COME
from eyelevel.plan.networks.compose import NetworkWords
from eyelevel.plan.plan import Plan
from eyelevel.replication.answers import Answers, answer_claims
from eyelevel.replication.claims import Claims, read_claims
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.lab_handshakes import FILE, RTT, LabHandshakes
from eyelevel.replication.page import Measured, write_page
from eyelevel.replication.parts import Part, Timed, fit_blocks, list_parts, time_parts
from eyelevel.run.study.estimate import repetition_s
from eyelevel.run.study.loop import Execution
from eyelevel.sites.recorded import list_shipped
from eyelevel.store.directory import PLAN_FILE, STOP_FILE, list_committed
from eyelevel.store.disk import make_folder

PAGE = "claims.md"
SEED = 1


def replicate(
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
    cluster: ClusterOption = "",
    allow_heterogeneous: AllowHeterogeneousOption = False,
    trust_network: TrustOption = False,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put the claims of a text to the test, and write a page with a verdict on each.

    The networks that decide most claims in an hour come first, each as a run of its own. The same
    command continues after Ctrl-C, and --budget counts anew.
    """
    claims = read_claims(text)
    directory = out or Path("replications") / claims.text.name
    narrowing = replace(narrowing_of(networks, stacks, blocks), sites=tuple(site or ()))
    if load and claims.text.plans:
        parts = list_parts(claims, list(list_shipped()), narrowing)
        if not parts:
            raise PlanError(
                [f"{claims.text.name}: no claim is left; name more --networks or --stacks"]
            )
        budget_s = math.inf if budget is None else budget_seconds(budget)
        elsewhere = Cluster(cluster, allow_heterogeneous, trust_network)
        _Loads(directory, parts, budget_s, elsewhere, host_wait_s).make(_again(text, directory))
    handshakes = LabHandshakes(directory / FILE)
    servers = dict.fromkeys(
        name for each in claims.claims if each.is_of_handshakes for name in each.networks
    )
    if load and servers and not handshakes.file.exists():
        make_folder(directory)
        _probe(list(servers), handshakes.file)
    runs = _read_runs(claims, directory)
    if data is not None and not data.is_dir():
        raise PlanError([f"--data {data}: there is no such folder; give that of the data sets"])
    found = answer_claims(claims, runs, DataSets(data), handshakes)
    make_folder(directory)
    page = directory / PAGE
    _write(page, write_page(found, _describe(runs)))
    with ending_at("page", page, as_json=as_json):
        if as_json:
            print_json(found.as_json())
        else:
            _print(found)


def _probe(servers: Sequence[str], file: Path) -> None:
    """Measure the handshakes of servers in a lab."""
    say(hints, f"handshakes of {', '.join(servers)} over {RTT}:")
    handshakes = Handshakes(",".join(servers), (), None, AS_THEY_COME)
    draft = file.with_name(f".{file.name}")
    draft.unlink(missing_ok=True)
    words = NetworkWords(rtt=RTT)
    put_side_by_side(
        handshakes, words, HANDSHAKES | {"seed": SEED}, BLOCKS, Kept(draft, resume=False)
    )
    draft.replace(file)


class _Loads:
    """The loads of a text's parts within a time."""

    def __init__(
        self,
        directory: Path,
        parts: Sequence[Part],
        budget_s: float,
        cluster: Cluster,
        host_wait_s: float,
    ) -> None:
        self._directory, self._parts, self._cluster = directory, parts, cluster
        self._host_wait_s = host_wait_s
        self._end_s = time.monotonic() + budget_s

    def make(self, again: str) -> None:
        """Run one part after the other, as long as the time allows."""
        timed = time_parts(self._parts, _parse, _repetition_s)
        waiting = [each for each in timed if not self._is_whole(each.part)]
        chosen = self._fit(waiting)
        left_out = [each.part.network for each in waiting[len(chosen) :]]
        if not chosen and waiting:
            least_s = waiting[0].repetition_s * 2
            raise PlanError(
                [
                    f"--budget: two loads of each site on {waiting[0].part.network} take "
                    f"{duration(least_s)} by the estimate; give at least that, or fewer --sites"
                ]
            )
        for each in chosen:
            loads = each.plan.blocks * len(each.plan.sites) * len(each.plan.stacks)
            say(
                hints,
                f"{each.part.folder}: {each.part.claims} claims, {loads} loads, "
                f"{duration(each.repetition_s * each.plan.blocks)}",
            )
        if left_out:
            say(hints, f"beyond the budget: {', '.join(left_out)}")
        while chosen:
            first, *chosen = chosen
            later_s = sum(each.repetition_s * each.plan.blocks for each in chosen)
            self._run(first, later_s, again)
            # A part that ended early leaves its time to the others, a late one takes theirs.
            chosen = self._fit(chosen)

    def _fit(self, timed: Sequence[Timed]) -> list[Timed]:
        left_s = self._end_s - time.monotonic()
        return list(timed) if math.isinf(left_s) else fit_blocks(timed, left_s)

    def _run(self, timed: Timed, later_s: float, again: str) -> None:
        out = self._directory / timed.part.folder
        left_s = self._end_s - time.monotonic() - later_s
        plan, is_begun = timed.plan, (out / PLAN_FILE).exists()
        if is_begun:  # its loads are of a plan with that number of blocks
            plan = replace(plan, blocks=_stored_blocks(out))
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

    def _is_whole(self, part: Part) -> bool:
        """Return whether a part's run has ended, with all its blocks or by its time."""
        from eyelevel.analysis.run_files import read_stored_plan

        out = self._directory / part.folder
        if not (out / PLAN_FILE).exists():
            return False
        there = list_committed(out)
        trials = read_stored_plan(out).trials
        return (out / STOP_FILE).exists() or all(each.hash in there for each in trials)


def _parse(part: Part) -> Plan:
    return parse_text(part.text, f"preset {part.preset}")


def _repetition_s(plan: Plan) -> float:
    return repetition_s(plan, open_pages(plan))


def _stored_blocks(out: Path) -> int:
    from eyelevel.analysis.run_files import read_stored_plan

    return read_stored_plan(out).plan.blocks


def _read_runs(claims: Claims, directory: Path) -> dict[str, dict[str, StudyResults]]:
    """Return the results of a text's runs by preset and network."""
    runs: dict[str, dict[str, StudyResults]] = defaultdict(dict)
    for preset in claims.text.plans:
        for plan_file in sorted(directory.glob(f"{preset}-*/{PLAN_FILE}")):
            found = read_results(plan_file.parent)
            for network in found.networks:
                # A longer name may begin with this one.
                if plan_file.parent.name == f"{preset}-{network}":
                    runs[preset][network] = found
    return runs


def _describe(runs: dict[str, dict[str, StudyResults]]) -> Measured | None:
    every = [each for of_preset in runs.values() for each in of_preset.values()]
    if not every:
        return None
    lines = []
    for found in every:
        blocks = found.blocks.kept["repetition"].n_unique()
        lines.append(
            f"{found.directory.name}: {found.blocks.kept.height} of {found.table.height} loads "
            f"count, {len(found.sites)} sites, {blocks} of {found.plan.blocks} blocks, "
            f"plan {found.plan_hash[:12]}"
        )
    environment = every[0].environment
    versions = environment["versions"]
    machine = (
        f"{versions['browser']}, kernel {versions['kernel']}, {environment['cores']} cores of "
        f"{environment['cpu']}, eyelevel {versions['eyelevel']}"
    )
    loads = sum(each.blocks.kept.height for each in every)
    seconds = sum(float(each.table["wall_ms"].sum()) / 1000 for each in every)
    return Measured(loads, seconds, tuple(lines), machine)


def _print(found: Answers) -> None:
    listing = table("claim", "", "verdict", whole=("verdict",))
    for each in found.asked:
        listing.add_row(each.claim.id, each.claim.claim, each.words)
    results.print(listing)
    say(
        results,
        f"{len(found.asked)} of {len(found.answers)} claims were measured: "
        f"{found.count('agrees')} agree, {found.count('disagrees')} disagree, "
        f"{found.count('cannot tell')} cannot be told; on average at most "
        f"{found.expected_false:.1f} of these verdicts are false",
    )


def _write(place: Path, text: str) -> None:
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WriteError(place, f"{error.strerror}; give another --out") from error


def _again(text: str, directory: Path) -> str:
    return shlex.join(["eyelevel", "replicate", text, "--out", str(directory)])
