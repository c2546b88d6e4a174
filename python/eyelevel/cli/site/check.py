"""Check whether a recording replays as it was recorded (`eyelevel site check`).

Describe a recording, in the columns of Das's table 4.1 (`eyelevel site info`).
"""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.analysis.pictures.beside import beside, difference_share
from eyelevel.base.errors import ExportError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.finish import OpenOption, check_opens, end_at
from eyelevel.cli.options import UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.lab.binary import run_tool
from eyelevel.sites.check import LOADS_MAX, PageFindings, PageLoad, check_page
from eyelevel.sites.contents import USED_SHARE_MIN, Use
from eyelevel.sites.corpora.attributes import count_addresses
from eyelevel.sites.recorded import open_site, site_info
from eyelevel.store.disk import temporary_folder, write_result

EXIT_DIFFERS = 1
TOOL_FOUND_DIFFERENCES = 2
NOT_LOADED = "Failed to load resource: "
"""Prefix of Chromium's console errors for misses, which are listed separately and differ by
protocol.
"""
LISTED_MAX = 20
"""Maximum lines of a printed list; `--json` has all of it."""
UNUSED_MAX = 5
"""Maximum number of unused objects listed; being unused is no fault by itself."""


def check(
    file: Annotated[
        str, typer.Argument(help="A recorded site: a file, or the name of a shipped one.")
    ],
    loads: Annotated[
        int,
        typer.Option(
            min=0,
            max=LOADS_MAX,
            help="How many times to load the page, over h1, h2 and h3 in turn.",
        ),
    ] = LOADS_MAX,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Write how the page looked when recorded and over each protocol: to a PNG, or "
            "as SITE.check.png to a folder. By default no file is written."
        ),
    ] = None,
    min_used: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help=(
                "The least share of the recording that the loads must use; 0 if it holds "
                "several pages."
            ),
        ),
    ] = USED_SHARE_MIN,
    _unsafe_browser: UnsafeBrowserOption = False,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Replay every exchange over HTTP/1.1, 2 and 3, compare every byte, then load the page.

    The page is loaded without shaping. Requests that the recording cannot answer are listed,
    those that block rendering first. Exits 1 on a difference, and if the page cannot be
    measured: if a load fails or paints nothing; if it misses what blocks rendering, other URLs
    than the other loads do, or more than 5 % of its requests; or if all loads together use less
    than half of the recording.
    """
    check_opens(open_, picture and loads, "pictures of loads", "--picture FILE.png")
    site = open_site(file)
    picture = _place(picture, site.name) if picture else None
    archive = Path(site.path).resolve()
    with hints.waiting(f"replaying {site.name} over HTTP/1.1, 2 and 3"):
        report = run_tool(["archive", "check", str(archive)], accept=(0, TOOL_FOUND_DIFFERENCES))
    differs = any(protocol["differences"] for protocol in report["protocols"])
    if not as_json:
        _print_bytes(report)
    failure, picture_is_written = "", False
    if loads:
        page = _load(archive, site.name, loads)
        failure = page.failure(min_used)
        pictures = write_pictures(page, archive, picture)
        picture_is_written = bool(pictures["pictures"])
        report["page"] = page_as_json(page, failure) | pictures
        if not as_json:
            _print_page(page, failure, pictures)
    if as_json:
        print_json(report)
    else:
        _print_marks(site_info(archive))
    if picture and picture_is_written:
        end_at("pictures", picture, opens=open_, as_json=as_json)
    if differs or failure:
        raise typer.Exit(EXIT_DIFFERS)


def _place(picture: Path, name: str) -> Path:
    """Return the file for the image; raises an error before any load if it cannot be written."""
    file = picture / f"{name}.check.png" if picture.is_dir() else picture
    if not file.parent.is_dir():
        raise ExportError(f"writing {file}: there is no folder {file.parent}; create it first")
    return file


def _load(archive: Path, name: str, loads: int) -> PageFindings:
    label = f"loading {name} {loads} times"
    with hints.waiting(label) as status:
        done = 0

        def on_load(load: PageLoad) -> None:
            nonlocal done
            done += 1
            status.update(f"{label}: {done} done, the last over {load.http_version}")

        return check_page(archive, loads, on_load)


def _print_bytes(found: JsonObject) -> None:
    for protocol in found["protocols"]:
        differences = protocol["differences"]
        state = "all alike" if not differences else f"{len(differences)} differ"
        results.print(
            f"{protocol['protocol']:9} {protocol['compared']} exchanges compared, {state}"
        )
        for difference in differences[:LISTED_MAX]:
            say(results, f"  {difference['url']}: {difference['what']}")


def _print_page(page: PageFindings, failure: str, pictures: JsonObject) -> None:
    state = f"not fit to be measured: {failure}" if failure else "fit to be measured"
    say(results, f"page      {len(page.loads)} loads over h1, h2 and h3 in turn: {state}")
    _print_use(page.use)
    requests = max(len(load.requested) for load in page.loads)
    agree = "the same" if page.misses_agree else "not the same"
    shares = f"{page.lacking_share:.1%} from the recording, {page.made_up_share:.1%} made up"
    missed = [miss for miss in page.misses if not miss.is_icon]
    icons = len(page.misses) - len(missed)
    say(results, f"misses    {len(missed)} of {requests} requests ({shares}), {agree} in all loads")
    for miss in missed[:LISTED_MAX]:
        kind = "render-blocking " if miss.render_blocking else ""
        nearest = f": {miss.nearest_url[:100]}" if miss.nearest_url else ""
        say(results, f"  {kind}{miss.resource_type} {miss.url[:200]}: {miss.explanation}{nearest}")
    if icons:
        say(results, f"  icons for the browser's tab, which are not counted: {icons}")
    if page.hosts_missing:
        say(results, f"hosts that were not recorded: {', '.join(page.hosts_missing)}")
    errors = [error for error in _console_errors(page) if not error.startswith(NOT_LOADED)]
    say(results, f"console   {len(errors)} errors other than for what was not loaded")
    for error in errors[:LISTED_MAX]:
        say(results, f"  {error[:200]}")
    changing = page.varying_requests
    say(results, f"requests  {'the same in all loads' if not changing else 'differ between loads'}")
    loads_of: Counter[str] = Counter(load.http_version for load in page.loads)
    for url, counts in list(changing.items())[:LISTED_MAX]:
        where = ", ".join(
            f"{count} of {loads_of[name]} over {name}" for name, count in counts.items()
        )
        say(results, f"  in {where}: {url}")
    for url in page.values_differ[:LISTED_MAX]:
        say(results, f"  other values in the query: {url[:200]}")
    for name, share in pictures["picture_difference_shares"].items():
        alike = "of another size" if share is None else f"{share:.1%} of the points differ"
        say(results, f"picture   {name}: {alike}")


def _print_use(use: Use) -> None:
    say(
        results,
        f"used      {use.objects_used} of {use.objects_recorded} recorded objects, "
        f"{size(use.body_bytes_used)} of {size(use.body_bytes_recorded)}",
    )
    for one in use.unused[:UNUSED_MAX]:
        say(results, f"  not asked for: {one.url[:200]}, {size(one.body_bytes)}")
    if len(use.unused) > UNUSED_MAX:
        say(results, f"  not asked for: {len(use.unused) - UNUSED_MAX} more; see --json")


def _console_errors(page: PageFindings) -> list[str]:
    """Return the console errors of all loads, each once."""
    return list(dict.fromkeys(error for load in page.loads for error in load.console_errors))


def write_pictures(page: PageFindings, archive: Path, out: Path | None) -> JsonObject:
    """Write the recorded and replayed images of the page side by side to `out`.

    Returns by how much the page differs, if known, over each protocol.
    """
    by_version = {load.http_version: load.screenshot for load in page.loads if load.screenshot}
    panels = [(f"replayed over {name}", image) for name, image in by_version.items()]
    if recorded := _read_recorded_picture(archive):
        panels.insert(0, ("recorded", recorded))
    shares: dict[str, float | None] = {}
    for caption, image in panels[1:]:
        shares[f"{panels[0][0]} and {caption}"] = difference_share(panels[0][1], image)
    written = out if panels else None
    if written is not None:
        write_result(written, beside(panels))
    return {"pictures": str(written) if written else None, "picture_difference_shares": shares}


def _read_recorded_picture(archive: Path) -> bytes:
    with temporary_folder("check") as folder:
        out = folder / "picture"
        written = run_tool(["archive", "screenshot", str(archive), "--out", str(out)])
        return out.read_bytes() if written else b""


def page_as_json(page: PageFindings, failure: str) -> JsonObject:
    """Return the findings as JSON; `failure` is why the page is not fit, or ""."""
    use = page.use
    return {
        "failure": failure or None,
        "objects_used": use.objects_used,
        "objects_recorded": use.objects_recorded,
        "body_bytes_used": use.body_bytes_used,
        "body_bytes_recorded": use.body_bytes_recorded,
        "unused": [asdict(one) for one in use.unused],
        "misses": [asdict(miss) for miss in page.misses],
        "misses_agree": page.misses_agree,
        "missing_share": page.missing_share,
        "made_up_share": page.made_up_share,
        "lacking_share": page.lacking_share,
        "hosts_missing": page.hosts_missing,
        "varying_requests": page.varying_requests,
        "values_differ": page.values_differ,
        "loads": [
            {
                "http_version": load.http_version,
                "ended": load.ended,
                "failure": load.failure() or None,
                "requests": len(load.requested),
                "misses": len(load.misses),
                "console_errors": load.console_errors,
            }
            for load in page.loads
        ],
    }


def info(
    file: Annotated[
        str, typer.Argument(help="A recorded site: a file, or the name of a shipped one.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what a recording holds: origins, addresses, objects, sizes, secure share, depth."""
    info_ = site_info(open_site(file).path)
    if as_json:
        print_json(info_)
    else:
        print_info(info_)


def print_info(found: JsonMapping) -> None:
    """Print a recording's description."""
    say(results, f"{found['name']}: {found['main_url']}")
    secure = (
        f"{found['secure_share']:.0%} of the objects, "
        f"{found['secure_bytes_share']:.0%} of the bytes"
    )
    addresses = count_addresses(found)
    for name, value in (
        ("origins", str(len(found["origins"]))),
        (
            "server addresses",
            "-, not recorded of all hosts" if addresses is None else str(addresses),
        ),
        ("objects", str(found["objects"])),
        ("median object", size(found["body_bytes_median"])),
        ("largest object", size(found["body_bytes_max"])),
        ("total size", size(found["body_bytes"])),
        ("secure", secure),
        ("dependency depth", str(found["dependency_depth"])),
        ("digest", found["digest"]),
    ):
        say(results, f"  {name:17} {value}")
    types = table("type", "objects", "size", right=("objects", "size"))
    by_size = sorted(
        found["media_types"].items(), key=lambda media_type: -media_type[1]["body_bytes"]
    )
    for name, counted in by_size:
        types.add_row(name or "(none)", str(counted["objects"]), size(counted["body_bytes"]))
    results.print(types)
    print_round_trips(found)
    _print_marks(found)


def print_round_trips(found: JsonMapping) -> None:
    """Print the recorded round trips by host, the slowest first; prints nothing without any."""
    timed = [origin for origin in found["origins"] if "handshake_rtt_ms_min" in origin]
    if not timed:
        return
    listing = table("host", "address", "RTT ms", "handshakes", right=("RTT ms", "handshakes"))
    cells = {
        (each["host"], each["address"], each["handshake_rtt_ms_min"], each["handshakes"])
        for each in timed
    }
    for host, address, rtt_ms, handshakes in sorted(cells, key=lambda row: (-row[2], row[0])):
        listing.add_row(host, address, f"{rtt_ms:.1f}", str(handshakes))
    results.print(listing)


def _print_marks(found: JsonMapping) -> None:
    """Print how a recording differs from the traffic on the wire."""
    provenance = found["provenance"]
    for sentence in provenance.get("altered", []):
        say(results, f"altered: {sentence}")
    left_out = [*provenance.get("left_out", []), *(note["message"] for note in found["notes"])]
    for sentence in left_out[:20]:
        say(results, f"left out: {sentence}")
    if len(left_out) > 20:
        say(results, f"left out: {len(left_out) - 20} more; see --json")


def size(size_bytes: int) -> str:
    """Format a size, such as `1.4 MB`, `3.9 kB` or `43 B`."""
    for unit, scale in (("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.1f} {unit}"
    return f"{size_bytes} B"
