"""Try each kind of edit on recorded sites: `python -m benchmarks.sites.each_edit [SITE ...]`.

Without arguments, on all shipped sites; SITE may also be any recording. What an edit names is found
in the recording: its first style sheet, script, picture, third party. The edited page is loaded
once in Chromium. A line per edit has how often it matched and whether every request of the load was
answered, or why the edit was refused. Nothing is asserted.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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
        for text in _changes(recording):
            verdict, detail = _try(recording, text)
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


def _try(recording: Path, text: str) -> tuple[str, str]:
    """Return what came of a change: `answered`, `refused` or `UNANSWERED`, and its details."""
    try:
        edit = parse_change(text)
        assert edit is not None
        derived = derive(recording, [edit])
    except (ExpectedError, ValueError) as error:
        return "refused", str(error).replace(str(recording), "SITE")
    matches = derived.matches[0].matches
    command = [sys.executable, "-m", "eyelevel", "load", str(derived.path), "--stack", "tcp"]
    done = subprocess.run(
        [*command, "--network", "cable", "--json"], check=False, capture_output=True, text=True
    )
    if not done.stdout:
        return "UNANSWERED", done.stderr.strip()
    (record,) = json.loads(done.stdout)
    missed = [each["url"] for each in record["requests"] if each["match"] != "exact"]
    if missed or record["outcome"] in ("missed-requests", "different-page"):
        return "UNANSWERED", f"{record['outcome']}: {', '.join(missed[:3])}"
    return (
        "answered",
        f"matched {matches} times; {len(record['requests'])} requests, {record['outcome']}",
    )


if __name__ == "__main__":
    main()
