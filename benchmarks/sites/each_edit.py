"""Try each kind of edit on recorded sites: `python -m benchmarks.sites.each_edit [SITE ...]`.

Without arguments, on all shipped sites; SITE may also be any recording. What an edit names is found
in the recording: its first style sheet, script, picture, third party. The edited page is loaded
once in Chromium. A line per edit has how often it matched and whether its load missed an answer
that the page as recorded has, or why the edit was refused. Nothing is asserted.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.shared.command import parser_of
from eyelevel.base.errors import ExpectedError
from eyelevel.lab.binary import run_tool
from eyelevel.plan.edits import parse_change
from eyelevel.sites.edits import derive
from eyelevel.sites.recorded import list_shipped, open_site, site_info

CLASSIC = "script[src]"
NONE = "nothing.recorded"
"""The name of an object in the place of one that a site does not have."""


def main() -> None:
    """Print a line per site and edit, and the counts of what came of them."""
    parser = parser_of(__doc__)
    parser.add_argument("site", nargs="*", help="default: all shipped sites")
    sites = parser.parse_args().site or list(list_shipped())
    counts = {"answered": 0, "refused": 0, "UNANSWERED": 0}
    for site in sites:
        recording = open_site(site).path
        missed = _load(recording).missed
        print(f"{site}: as recorded, {len(missed)} requests miss their answer", flush=True)
        for text in _changes(recording):
            verdict, detail = _try(recording, text, missed)
            counts[verdict] += 1
            print(f"{site}: {text}: {verdict}, {detail}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


def _changes(recording: Path) -> Iterator[str]:
    """Yield one change of each kind, in its short form."""
    objects = _read_objects(recording)
    of_kind = {
        kind: [each["url"] for each in objects if each["mime"].startswith(kind)]
        for kind in ("text/css", "image/", "text/javascript", "application/javascript")
    }
    scripts = of_kind["text/javascript"] + of_kind["application/javascript"]
    own = urlsplit(site_info(recording)["main_url"]).netloc
    others = [urlsplit(each["url"]) for each in objects]
    other = next((f"{each.scheme}://{each.netloc}" for each in others if each.netloc != own), own)
    sheet, picture, script = (
        urls[0] if urls else NONE for urls in (of_kind["text/css"], of_kind["image/"], scripts)
    )
    yield from (
        "replace:</title> =>  edited</title>",
        'insert_head:<meta name="edited" content="yes">',
        "remove:meta[name=description]",
        f"defer:{CLASSIC}",
        f"async:{CLASSIC}",
        f"preload:{picture}",
        f"modulepreload:{script}",
        f"preconnect:{other}",
        "fetchpriority:img",
        "lazy:img",
        f"inline:{sheet}",
        "font_display:swap",
        "block:third-parties",
        "header:cache-control: no-store",
        "encode:br:11",
        "encode:identity",
    )


def _read_objects(recording: Path) -> list[dict[str, str]]:
    """Return URL and media type of each recorded `GET` that was answered with 200."""
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        har = Path(folder) / "site.har"
        run_tool(["archive", "export", str(recording), "--har", str(har)])
        entries = json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]
    return [
        {"url": entry["request"]["url"], "mime": entry["response"]["content"]["mimeType"]}
        for entry in entries
        if entry["request"]["method"] == "GET" and entry["response"]["status"] == 200
    ]


@dataclass(frozen=True)
class Load:
    """A load's outcome, its requests, and hosts and paths of those that missed their answer."""

    outcome: str
    requests: int
    missed: frozenset[str]


def _load(recording: Path) -> Load:
    command = [sys.executable, "-m", "eyelevel", "load", str(recording), "--stack", "tcp"]
    done = subprocess.run(
        [*command, "--network", "cable", "--json"], check=False, capture_output=True, text=True
    )
    if not done.stdout:
        return Load(done.stderr.strip(), 0, frozenset())
    (record,) = json.loads(done.stdout)
    requests = record["requests"]
    missed = [urlsplit(each["url"]) for each in requests if each["match"] == "miss"]
    return Load(
        record["outcome"], len(requests), frozenset(f"{url.netloc}{url.path}" for url in missed)
    )


def _try(recording: Path, text: str, missed: frozenset[str]) -> tuple[str, str]:
    """Return what came of a change: `answered`, `refused` or `UNANSWERED`, and its details."""
    try:
        edit = parse_change(text)
        assert edit is not None
        derived = derive(recording, [edit])
    except (ExpectedError, ValueError) as error:
        return "refused", str(error).replace(str(recording), "SITE")
    matches, load = derived.matches[0].matches, _load(derived.path)
    if not load.requests or load.missed - missed:
        return "UNANSWERED", f"{load.outcome}: {', '.join(sorted(load.missed - missed)[:3])}"
    return "answered", f"matched {matches} times; {load.requests} requests, {load.outcome}"


if __name__ == "__main__":
    main()
