"""Compare a live page with its replay, as in figure 4-2 of Das 2014 (`eyelevel validate live`)."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.base.errors import INTERRUPTS
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.finish import OpenOption, end_at
from eyelevel.cli.load.live import LiveAllowOption, UpstreamCaOption, check_live, report_once
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption, with_browser_options
from eyelevel.cli.output import hints, print_json, results, say
from eyelevel.cli.validate.live_output import print_study
from eyelevel.cli.validate.live_recording import check_recorded_rtts, recording_of
from eyelevel.cli.values import duration, get_stack
from eyelevel.load.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.load.traces import read_stages
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.origin_rtt import OTHERS, RECORDED, describe_rtts
from eyelevel.plan.networks.presets import UNSHAPED
from eyelevel.report.charts.chart import FORMATS
from eyelevel.report.charts.live import live_against_replay
from eyelevel.run.live.comparison import COMPARED, Load, by_origin, compare, protocols, verdict
from eyelevel.run.live.load import LivePage
from eyelevel.run.live.study import Done, LiveStudy, problems, read_loads, run_study
from eyelevel.sites.recorded import read_screen
from eyelevel.store.directory import json_bytes
from eyelevel.store.disk.results import make_folder, write_result

EXIT_NOT_OK = 1
BLOCKS = 40
"""Default number of blocks: a bias of 0.44 standard deviations of the differences, (1.96 +
0.84) / sqrt(40), is then detected four times in five if they are normal; one of a fifth about
one time in four.
"""


@with_browser_options
@with_network_options(UNSHAPED)
def live(
    url: Annotated[str, typer.Argument(help="The page.")],
    out: Annotated[
        Path, typer.Option(help="Keep the recording, loads, JSON and chart in this directory.")
    ] = Path("live"),
    against: Annotated[
        str | None,
        typer.Option(help="A recording of the page; by default one is made first, in --out."),
    ] = None,
    blocks: Annotated[
        int,
        typer.Option(min=1, max=1000, help="How many live loads, and as many replays, to make."),
    ] = BLOCKS,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    recorded_rtt: Annotated[
        bool,
        typer.Option(
            "--recorded-rtt/--no-recorded-rtt",
            help="Give replays the round trips of the recording's handshakes, per origin.",
        ),
    ] = True,
    stack: Annotated[
        str,
        typer.Option(help="The stack of the replays; live loads use only its browser settings."),
    ] = "tcp+",
    seed: Annotated[int, typer.Option(min=0, help="The seed of the order within blocks.")] = 1,
    settings: Browser = Browser(),  # noqa: B008 (frozen)
    allow: LiveAllowOption = None,
    upstream_ca: UpstreamCaOption = None,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Load a page live and from its recording, in turns, and say by how much they differ.

    Both sides have the same browser and settings. Replays use the given network, the recorded
    round trips per origin, and the recorded think times. The bias is replay - live within
    blocks of neighbouring loads, with its 95 % interval. After an interruption the same command
    continues the study. Exits 1 if no block has both loads.
    """
    named = get_stack(stack)
    check_live(url, named, settings)
    composed = compose(words, read_stages, UNSHAPED)
    recording = recording_of(url, against, out, upstream_ca, allow or ())
    if recorded_rtt:
        check_recorded_rtts(recording)
    make_folder(out)
    screen = read_screen(recording.path)
    page = LivePage(url, allow or (), upstream_ca, screen, report_once())
    study = LiveStudy(
        page,
        recording,
        composed.network,
        named,
        blocks,
        seed,
        settings,
        {OTHERS: RECORDED} if recorded_rtt else None,
        composed.files,
    )
    try:
        run_study(study, out, HostWait(host_wait_s), _tell)
    except INTERRUPTS:
        hints.print("a load was aborted; the same command does the rest", soft_wrap=True)
        raise
    loads = list(read_loads(study, out))
    found = _as_json(study, loads)
    _write(out, loads, found)
    if as_json:
        print_json(found)
    else:
        print_study(found)
        beyond = f"round trips beyond it: {describe_rtts(study.own_rtts)}"
        say(results, f"replays: {study.stack.name} on {study.network.name}; {beyond}")
        say(results, f"loads, JSON, rows: {out}/trials, live.json, live.csv")
    if (chart := out / "live.svg").exists():
        end_at("chart", chart, opens=open_, as_json=as_json)
    if not found["blocks_compared"]:
        raise typer.Exit(EXIT_NOT_OK)


def _tell(done: Done) -> None:
    left = f"; {duration(done.left_s)} left" if done.left_s else ""
    block = f"{done.turn.side} of block {done.turn.trial.repetition}"
    hints.print(f"load {done.done} of {done.total}: {block}: {done.outcome}{left}", markup=False)


def _as_json(study: LiveStudy, loads: Sequence[Load]) -> JsonObject:
    compared = compare(loads)
    outcomes = problems(loads)
    primary = next((each for each in compared if each.name == COMPARED[0]), None)
    return {
        "url": study.page.url,
        "recording": str(study.recording.path),
        "recording_digest": study.recording.digest,
        "network": {"name": study.network.name, **study.network.settings()},
        "stack": study.stack.name,
        "origin_rtt": study.own_rtts,
        "blocks": study.blocks,
        "blocks_compared": primary.bias.n if primary else 0,
        "outcomes": outcomes,
        "details": sorted({load.outcome_detail for load in loads if load.outcome_detail}),
        "verdict": verdict(primary) if primary else "no load brought the page",
        "metrics": {each.name: each.as_json() for each in compared},
        "origins": by_origin(loads),
        "protocols": protocols(loads),
    }


def _write(out: Path, loads: Sequence[Load], found: JsonObject) -> None:
    write_result(out / "live.json", json_bytes(found))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["side", "block", "outcome", *METRICS_BY_NAME])
    for load in loads:
        values = [load.metrics.get(name) for name in METRICS_BY_NAME]
        table.writerow([load.side, load.repetition, load.outcome, *values])
    write_result(out / "live.csv", text.getvalue())
    rows = _curves(loads)
    if rows.height:
        write_result(out / "live.svg", FORMATS["svg"](live_against_replay(rows)))


def _curves(loads: Sequence[Load]) -> pl.DataFrame:
    rows = [
        (METRICS_BY_NAME[name].title, load.side, value / 1e3)
        for name in COMPARED
        if name.endswith("_ms")
        for load in loads
        if (value := load.metrics.get(name)) is not None
    ]
    names = {"metric": pl.String, "side": pl.String, "seconds": pl.Float64}
    return pl.DataFrame(rows, schema=names, orient="row")
