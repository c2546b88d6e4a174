"""Compare a live page with its replay, as in figure 4-2 of Das 2014 (`eyelevel validate live`).

Print the results of `eyelevel validate live`: both sides, the bias, and its likely causes. Find or
make the recording that a live study replays, which must be of the study's page.
"""

import contextlib
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, urlsplit

import polars as pl
import typer

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.base.errors import INTERRUPTS, PlanError
from eyelevel.base.from_outside.host_names import spell_in_dns
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.finish import OpenOption, end_at
from eyelevel.cli.load.live import LiveAllowOption, UpstreamCaOption, check_live, report_once
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.options import HostWaitOption, UnsafeBrowserOption, with_browser_options
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.cli.site.record import record_page
from eyelevel.cli.values import duration, get_stack
from eyelevel.load.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.load.traces import read_stages
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.origin_rtt import OTHERS, RECORDED, describe_rtts, hosts_without_rtt
from eyelevel.plan.networks.presets import UNSHAPED
from eyelevel.report.charts.chart import FORMATS
from eyelevel.report.charts.live import live_against_replay
from eyelevel.run.live.comparison import (
    COMPARED,
    PARTS,
    PUBLISHED,
    SIDES,
    Load,
    by_origin,
    compare,
    protocols,
    verdict,
)
from eyelevel.run.live.load import LivePage
from eyelevel.run.live.study import Done, LiveStudy, problems, read_loads, run_study
from eyelevel.sites.corpora.recorded_page import find_error_answer
from eyelevel.sites.recorded import RecordedSite, open_site, read_screen, site_info
from eyelevel.store.directory import json_bytes
from eyelevel.store.disk import folder_beside, make_folder, write_result
from eyelevel.store.outcomes import COUNTED

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
        _print_study(found)
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


TITLES = {
    "page_load_time_ms": "PLT, ms",
    "time_to_first_byte_ms": "TTFB, ms",
    "first_contentful_paint_ms": "FCP, ms",
    "largest_contentful_paint_ms": "LCP, ms",
    "speed_index_ms": "SI, ms",
    "object_count": "objects",
    "received_bytes": "bytes",
}
WORDS = dict(zip(PARTS, ("name", "connect", "wait"), strict=True))


def _print_study(found: JsonMapping) -> None:
    """Print the results of a study, given as JSON."""
    results.print(f"{found['url']}: {found['verdict']}", markup=False, soft_wrap=True)
    results.print()
    _print_metrics(found["metrics"])
    _print_origins(found["origins"])
    for side, counts in found["outcomes"].items():
        bad = [f"{count} {name}" for name, count in counts.items() if name not in COUNTED]
        if bad:
            results.print(f"{side} loads that do not count: {', '.join(bad)}", markup=False)
    for detail in found["details"]:
        results.print(f"  {detail}", markup=False, soft_wrap=True)
    over = [
        f"{side}: {', '.join(f'{count} over {name}' for name, count in counts.items())}"
        for side, counts in found["protocols"].items()
    ]
    results.print(f"objects, {'; '.join(over)}", markup=False, soft_wrap=True)
    published = [
        f"{side} {mean:.0f} ± {spread:.0f} ms ({spread / mean:.1%})"
        for side, (mean, spread) in PUBLISHED.items()
    ]
    results.print(f"published, 100 loads of another page (Das 2014): {', '.join(published)}")


def _print_metrics(metrics: JsonMapping) -> None:
    columns = ("live", "varies", "replay", "varies ", "bias", "95 % interval", "blocks")
    listing = table("", *columns, right=columns)
    for name, compared in metrics.items():
        cells = []
        for side in SIDES:
            summary = compared[side]
            mean, spread = summary["mean"], summary["standard_deviation"]
            share = summary["coefficient_of_variation"]
            around = "" if spread is None else f" ± {spread:.0f}"
            cells += [
                "-" if mean is None else f"{mean:.0f}{around}",
                "-" if share is None else f"{share:.1%}",
            ]
        bias = compared["bias"]
        known = bias["low"] is not None
        interval = f"{bias['low']:+.0f} to {bias['high']:+.0f}" if known else "-"
        value = "-" if bias["value"] is None else f"{bias['value']:+.0f}"
        listing.add_row(TITLES[name], *cells, value, interval, str(compared["blocks"]))
    results.print(listing)
    results.print("mean ± standard deviation; bias is replay - live within blocks")
    results.print()


def _print_origins(origins: Sequence[JsonMapping]) -> None:
    columns = tuple(WORDS.values())
    listing = table("medians in ms, live / replay", *columns, right=columns)
    for origin in origins:
        pairs = (" / ".join(_ms(origin[side][part]) for side in SIDES) for part in WORDS)
        listing.add_row(origin["host"], *pairs)
    results.print(listing)


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


RECORDING = "recording.wacz"
_PORTS = {"http": 80, "https": 443}


def recording_of(
    url: str,
    against: str | None = None,
    out: Path = Path(),
    upstream_ca: Path | None = None,
    allow: Sequence[str] = (),
) -> RecordedSite:
    """Return the recording `against`, else the one in `out`, which is made if it is missing.

    Raises `PlanError` if it is of another page, whose times would be reported as this one's, or of
    an error page.
    """
    file = out / RECORDING
    if against is None and not file.exists():
        make_folder(out)
        try:
            _record(url, file, upstream_ca, allow)
        except BaseException:
            with contextlib.suppress(OSError):  # unless it has loads
                out.rmdir()
            raise
    recording = open_site(against or str(file))
    main_url = site_info(recording.path)["main_url"]
    if main_url is None:
        raise PlanError(
            [
                f"{recording.path} names no page, so it may be of a page other than {url}; "
                "leave out --against"
            ]
        )
    if not is_same_page(main_url, url):
        mend = "give another --out" if against is None else "validate that page, or record this one"
        raise PlanError([f"{recording.path} is of {main_url}, not of {url}; {mend}"])
    if failed := find_error_answer(recording.path):
        raise PlanError([f"{recording.path}: {failed} when it was recorded; record it again"])
    return recording


def _record(url: str, file: Path, upstream_ca: Path | None, allow: Sequence[str]) -> None:
    with folder_beside(file) as draft:
        made = draft / file.name
        record_page(url, made, upstream_ca, allow)
        if failed := find_error_answer(made):
            raise PlanError([f"recording {url}: {failed}, so it is not kept; try again later"])
        made.chmod(0o644)
        made.rename(file)


def check_recorded_rtts(recording: RecordedSite) -> None:
    """Raise `PlanError` if a replay cannot have the round trips of the recorded handshakes."""
    hosts = hosts_without_rtt(recording.of_plan().places)
    if hosts:
        more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
        raise PlanError(
            [
                f"{recording.path} has no recorded round trip for {hosts[0]}{more}: give "
                "--no-recorded-rtt with a --network or --rtt that matches the page's, or use a "
                "recording made by `eyelevel record`"
            ]
        )


def is_same_page(one: str, other: str) -> bool:
    """Return whether two URLs are of one page, in any spelling; fragments are ignored."""
    try:
        return _parts(one) == _parts(other)
    except ValueError:  # an invalid port
        return False


def _parts(url: str) -> tuple[str, str, int | None, str, str]:
    parts = urlsplit(url)
    host = spell_in_dns(parts.hostname or "")
    path, query = (quote(text, safe="%/") for text in (parts.path or "/", parts.query))
    return parts.scheme, host, parts.port or _PORTS.get(parts.scheme), path, query
