"""Describe a recording, in the columns of Das's table 4.1 (`eyelevel site info`)."""

from typing import Annotated

import typer

from eyelevel.base.json_types import JsonMapping
from eyelevel.cli.output import print_json, results, say, table
from eyelevel.sites.corpora.attributes import count_addresses
from eyelevel.sites.recorded import open_site, site_info


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
    print_marks(found)


def print_round_trips(found: JsonMapping) -> None:
    """Print the recorded round trips by host, the slowest first; prints nothing without any."""
    timed = [origin for origin in found["origins"] if "handshake_rtt_ms_min" in origin]
    if not timed:
        return
    shown = table("host", "address", "RTT ms", "handshakes", right=("RTT ms", "handshakes"))
    cells = {
        (each["host"], each["address"], each["handshake_rtt_ms_min"], each["handshakes"])
        for each in timed
    }
    for host, address, rtt_ms, handshakes in sorted(cells, key=lambda row: (-row[2], row[0])):
        shown.add_row(host, address, f"{rtt_ms:.1f}", str(handshakes))
    results.print(shown)


def print_marks(found: JsonMapping) -> None:
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
