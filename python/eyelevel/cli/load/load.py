"""Load a site a few times over one network and stack (`eyelevel load`).

Compute and print the harm of `eyelevel load --cross-traffic`, with and without transfers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME, metrics_of
from eyelevel.analysis.stats.paired_gains import harm
from eyelevel.analysis.trials.starvation import judge_alone
from eyelevel.base.errors import PlanError, StoreError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.finish import end_at
from eyelevel.cli.load.live import (
    LiveAllowOption,
    UpstreamCaOption,
    check_no_emulation,
    live_loads,
    refuse_live,
    report_once,
)
from eyelevel.cli.network_options import OriginRttOption, parse_origin_rtt, with_network_options
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption, with_browser_options
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.cli.results.export import EXPORTS, Exports, write_exports
from eyelevel.cli.results.metrics import SHOWN, measure_steps, print_steps
from eyelevel.cli.values import get_stack
from eyelevel.load.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.load.traces import read_stages
from eyelevel.load.trial import TrialResult, run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.cross_traffic import CrossTraffic, parse_all_cross_traffic
from eyelevel.plan.networks.network import Network
from eyelevel.plan.origin_rtts import with_plans
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.trials import Trial, expand
from eyelevel.run.live.load import LivePage
from eyelevel.sites.recorded import open_site
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import TRIALS, list_committed, read_trial
from eyelevel.store.disk import make_folder
from eyelevel.store.outcomes import COUNTED

_CROSS_HELP = (
    "Add bulk transfers that share the path: CONTROLLER[:FLOWS[:DIRECTION]], such as "
    "cubic:2:down, with cubic, bbr or reno. Repeatable."
)


def _harm_of(row: JsonMapping, rows: Iterable[JsonMapping], names: Iterable[str]) -> object:
    """Return one load's harm by metric, relative to its repetition without cross traffic.

    None if that load does not exist yet, or if either load was not ok.
    """
    alone = next(
        (
            other
            for other in rows
            if other["repetition"] == row["repetition"] and other["cross_traffic"] is None
        ),
        None,
    )
    if alone is None or row["cross_traffic"] is None:
        return None
    return {name: _one(row[name], alone[name]) for name in names}


def _print_harm(rows: Sequence[JsonMapping], titles: Mapping[str, str]) -> None:
    """Print flows, the page's share, and the mean harm of each metric with its interval."""
    beside = [row for row in rows if row["cross_traffic"] is not None]
    for row in beside:
        _print_flows(row["cross_traffic"])
        if (load := row["cross_traffic"]["load"]) and load["page_share"] is not None:
            results.print(
                f"while the page loaded, it had {load['page_share']:.1%} of the bytes down"
            )
    listing = table("harm to", "pairs", "harm", "95 % interval", right=("pairs", "harm"))
    for name, title in titles.items():
        pairs = [
            (row[name], alone[name])
            for row in beside
            for alone in rows
            if alone["cross_traffic"] is None
            and alone["repetition"] == row["repetition"]
            and row[name] is not None
            and alone[name] is not None
        ]
        estimate = harm([b for b, _ in pairs], [a for _, a in pairs])
        reach = estimate.reason
        if estimate.low is not None and estimate.high is not None:
            reach = f"{estimate.low:.1%} to {estimate.high:.1%}"
        value = "-" if estimate.value is None else f"{estimate.value:.1%}"
        listing.add_row(title, str(len(pairs)), value, reach)
    results.print(listing)
    results.print("harm: (with - without) / with cross traffic; 0 is none, 100 % the worst")


def _one(beside: float | None, alone: float | None) -> float | None:
    if beside is None or alone is None or beside <= 0:
        return None
    return (beside - alone) / beside


def _print_flows(found: JsonMapping) -> None:
    """Print each flow's goodput and Jain's index, from a record's `cross_traffic`."""
    listing = table("cross traffic", "way", "seconds", "Mbit/s", right=("seconds", "Mbit/s"))
    for flow in found["flows"]:
        listing.add_row(
            flow["congestion_control"],
            flow["direction"],
            f"{flow['duration_ms'] / 1e3:.1f}",
            f"{flow['goodput_bit_s'] / 1e6:.3f}",
        )
    results.print(listing)
    for direction, index in found["fairness_index"].items():
        if index is not None:
            results.print(f"Jain's fairness index {direction}: {index:.3f}")


EXIT_NOT_OK = 1


@with_browser_options
@with_network_options()
def load(
    site: Annotated[
        str,
        typer.Argument(
            help=(
                "A recorded site (a file, or the name of a shipped one); with --live the URL "
                "of a page."
            )
        ),
    ],
    context: typer.Context,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    stack: Annotated[
        str, typer.Option(help="A protocol stack from `eyelevel list stacks`.")
    ] = "tcp+",
    runs: Annotated[int, typer.Option(min=1, max=1000, help="How many loads.")] = 1,
    settings: Browser = Browser(),  # noqa: B008 (frozen)
    seed: Annotated[int, typer.Option(min=0, help="The seed of the path's random losses.")] = 1,
    url: Annotated[
        str | None, typer.Option(help="The page to open, if it is not the recording's.")
    ] = None,
    cross_traffic: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{_CROSS_HELP} Every load is also made without them, to measure the harm."
        ),
    ] = None,
    origin_rtt: OriginRttOption = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Load the page from its real servers, over the real network."),
    ] = False,
    allow: LiveAllowOption = None,
    upstream_ca: UpstreamCaOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Keep each load's record and frames in this directory.")
    ] = None,
    har: Annotated[
        bool, typer.Option("--har", help="With --out: write HASH.har of each load.")
    ] = False,
    video: Annotated[
        bool, typer.Option("--video", help="With --out: write HASH.mp4 of each load.")
    ] = False,
    filmstrip: Annotated[
        bool, typer.Option("--filmstrip", help="With --out: write each load's pictures.")
    ] = False,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the trials as JSON.")] = False,
) -> None:
    """Load a recorded site in a real browser and print when a person would have seen what.

    With --live, load a page from its real servers: nothing is emulated, only public addresses
    (and those that --allow names) are reached, and --stack says which protocol the browser may
    use.

    Exits 1 if no load counts.
    """
    if (har or video or filmstrip or settings.kept_logs()) and out is None:
        options = "--har, --video, --filmstrip, --netlog, --trace and --logs"
        raise typer.BadParameter(f"{options} need a place to write to; give --out DIR")
    named = get_stack(stack)
    if refused := settings.find_refused_stack(named):
        raise PlanError([f"--stack {refused}"])
    wait = HostWait(host_wait_s, on_status=_report_wait_once())
    kinds: Sequence[CrossTraffic] = ()
    if live:
        check_no_emulation(context)
        page = LivePage(site, allow or (), upstream_ca, on_remark=report_once())
        trials, load_once = live_loads(page, named, runs, seed, settings, wait)
    else:
        refuse_live(allow, upstream_ca)
        recorded = open_site(site)
        if origin_rtt is not None:
            (named,) = with_plans([named], parse_origin_rtt(origin_rtt))
        composed = compose(words, read_stages)
        networks = [composed.network]
        if kinds := parse_all_cross_traffic(cross_traffic or []):
            crossed = f"{composed.network.name}+cross"
            networks.append(replace(composed.network, name=crossed, cross_traffic=kinds))
        plan = one_cell(recorded.name, networks, named, runs, seed, settings)
        trials = expand(plan, [recorded.of_plan()])
        archive = str(recorded.path.resolve())
        load_once = partial(
            run_trial, archive=archive, url=url, trace_files=composed.files, host_wait=wait
        )
    if out is not None:
        _check_not_kept(out, trials)
    rows: list[JsonObject] = []
    exports = Exports(har, video, filmstrip)
    for trial in trials:
        result = load_once(trial)
        if out is not None:
            _keep(out, result, exports)
        rows.append(_row(result))
        hints.print(f"load {len(rows)} of {len(trials)}: {rows[-1]['outcome']}")
    if kinds:
        for row in rows:
            row["harm"] = _harm_of(row, rows, METRICS_BY_NAME)
    if as_json:
        print_json(rows)
    else:
        _print(rows)
        if kinds:
            _print_harm(rows, SHOWN)
    if out is not None:
        if any(astuple(exports)):
            names = [name for name, wanted in asdict(exports).items() if wanted]
            say(hints, f"{', '.join(names)} in {out / EXPORTS}")
        end_at("records and frames", out / TRIALS, as_json=as_json)
    if not any(row["outcome"] in COUNTED for row in rows):
        raise typer.Exit(EXIT_NOT_OK)


def _report_wait_once() -> Callable[[str], None]:
    """Return a function that prints, once per load, that it waits for the machine."""
    waits = False

    def tell(line: str) -> None:
        nonlocal waits
        if line and not waits:
            hints.print(line, markup=False, soft_wrap=True)
        waits = bool(line)

    return tell


def _check_not_kept(out: Path, trials: Sequence[Trial]) -> None:
    """Raise an error before loading if a trial's record exists already."""
    make_folder(out)
    there = list_committed(out)
    for trial in trials:
        if trial.hash in there:
            raise _exists_error(out, trial.hash)


def _exists_error(out: Path, name: str) -> StoreError:
    return StoreError(
        f"keeping {out / TRIALS / name}: an earlier load with these settings is there already; "
        "give another --out or --seed"
    )


def _keep(out: Path, result: TrialResult, exports: Exports) -> None:
    name = result.record["trial"]["hash"]
    if not write_trial(out, result.record, result.frames, result.step_frames, result.logs):
        raise _exists_error(out, name)
    if any(astuple(exports)):
        write_exports(read_trial(out, name), out / EXPORTS, exports)


def _row(result: TrialResult) -> JsonObject:
    record = result.record
    outcome, detail = judge_alone(record)
    metrics: Mapping[str, float | None] = {}
    if outcome in COUNTED:
        metrics = metrics_of(record, result.frames)
    return {
        "hash": record["trial"]["hash"],
        "network": record["trial"]["network"],
        "network_settings": record["trial"]["network_settings"],
        "repetition": record["trial"]["repetition"],
        "outcome": outcome,
        "outcome_detail": detail,
        **{name: metrics.get(name) for name in METRICS_BY_NAME},
        "after_load": measure_steps(record, result.step_frames),
        "objects": record["objects"],
        "requests": record["requests"],
        "connections": record["connections"],
        "path": record["path"],
        "cross_traffic": record["cross_traffic"],
        "host": record["host"],
        "browser": record["browser"],
    }


def _print(rows: Sequence[JsonMapping]) -> None:
    titles = list(SHOWN.values())
    listing = table("load", "network", "outcome", *titles, "objects", right=(*titles, "objects"))
    for number, row in enumerate(rows, start=1):
        values = ["-" if row[name] is None else f"{row[name]:.0f}" for name in SHOWN]
        listing.add_row(
            str(number), row["network"], row["outcome"], *values, str(len(row["objects"]))
        )
    results.print(listing)
    print_steps([(f"{number}", row["after_load"]) for number, row in enumerate(rows, start=1)])
    results.print("ms from navigation start; what each measures: docs/reference/metrics.md")
    for name, settings in {row["network"]: row["network_settings"] for row in rows}.items():
        network = Network.read({**settings, "name": name})
        if network.is_staged:
            results.print(f"{name}: {network.described()}", markup=False, soft_wrap=True)
    for row in rows:
        if row["outcome_detail"]:
            results.print(f"{row['outcome']}: {row['outcome_detail']}", markup=False)
