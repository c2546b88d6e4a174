"""Hold edits of known effect against what loads find: `python -m benchmarks.run.known_effects`.

Needs root and a quiet machine. A generated page has a script in its head that keeps the processor
busy for 300 ms, and a picture that only its style sheet names. Each edit is a variant beside the
page itself, over 40 ms of round trip at 20 Mbit/s, with HTTP/2 and HTTP/3. A line per stack and
edit has what theory expects, and the median over blocks of what the loads had:

- the script deferred: the first contentful paint comes 300 ms less a frame earlier;
- the picture preloaded: its request starts when the page's head is read and no longer when the
  style sheet is there, which is a round trip and the sheet's transfer;
- third parties of the shipped site `landing` blocked: their encoded bytes are not received.

Nothing is asserted.
"""

import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.shared.command import machine, parser_of
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.base.json_types import JsonMapping

BUSY_MS = 300
FRAME_MS = 1000 / 60
PICTURE = "hero.svg"
OWN_EDITS = {"deferred": "defer:/busy.js", "preloaded": f"preload:/{PICTURE}"}
BLOCKED = "blocked"
FIRST_PARTY = ("landing.example", "images.landing.example")
PLAN = """seed = 1
sites = ["{site}"]
stacks = ["quic", "tcp+"]
reference = "main"
blocks = {blocks}
primary_metric = "fcp"
[[variants]]
name = "main"
{variants}
[[networks]]
name = "40ms"
rtt = "40ms"
down = "rate 20 Mbit/s, queue droptail 100ms"
up = "rate 5 Mbit/s, queue droptail 100ms"
"""
PAGE = f"""<!doctype html><title>Shop</title>
<link rel=stylesheet href=style.css>
<script src=busy.js></script>
<h1>Shop</h1><p>{"Everything for your garden. " * 200}
<div class=hero></div>
"""
STYLE = f".hero {{ width: 400px; height: 300px; background: url({PICTURE}) }}\n" * 100
SCRIPT = f"for (const end = performance.now() + {BUSY_MS}; performance.now() < end; );\n"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300">{}</svg>'


def main() -> None:
    """Print a line per stack and edit: expected and found."""
    parser = parser_of(__doc__)
    parser.add_argument("--blocks", type=int, default=8)
    blocks = parser.parse_args().blocks
    print(machine())
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as name:
        folder = Path(name)
        _record_page(folder)
        own = _run(folder / "own", str(folder / "shop.wacz"), OWN_EDITS, blocks)
        landing = _run(folder / "landing", "landing", {BLOCKED: "block:third-parties"}, blocks)
        for stack in ("quic", "tcp+"):
            earlier_ms = _median(own, stack, "deferred", _first_paint_ms)
            print(f"{stack:5} deferred: first contentful paint {earlier_ms:.0f} ms earlier, "
                  f"expected {BUSY_MS - FRAME_MS:.0f}")  # fmt: skip
            earlier_ms = _median(own, stack, "preloaded", _picture_started_ms)
            expected_ms = _median(own, stack, "preloaded", _style_wait_ms, difference=False)
            print(f"{stack:5} preloaded: picture requested {earlier_ms:.0f} ms earlier, "
                  f"expected {expected_ms:.0f}, the wait for the sheet")  # fmt: skip
            fewer = _median(landing, stack, BLOCKED, _sum_encoded_bytes)
            expected = _median(landing, stack, BLOCKED, _sum_third_party_bytes, difference=False)
            print(f"{stack:5} blocked: {fewer:.0f} bytes fewer, expected {expected:.0f}")
    print(machine())


def _record_page(folder: Path) -> None:
    """Write the page and record it as `shop.wacz` in `folder`."""
    pages = folder / "shop"
    pages.mkdir()
    dots = "".join(
        f'<circle cx="{n * 37 % 400}" cy="{n * 53 % 300}" r="{n % 5 + 2}"/>' for n in range(500)
    )
    files = {"index.html": PAGE, "style.css": STYLE, "busy.js": SCRIPT, PICTURE: SVG.format(dots)}
    for name, text in files.items():
        (pages / name).write_text(text, encoding="utf-8")
    _command("record", f"{pages}/", "--out", str(folder / "shop.wacz"))


def _run(folder: Path, site: str, edits: Mapping[str, str], blocks: int) -> StudyResults:
    variants = "\n".join(
        f'[[variants]]\nname = "{name}"\nedits = ["{edit}"]' for name, edit in edits.items()
    )
    file = folder.with_suffix(".toml")
    file.write_text(PLAN.format(site=site, blocks=blocks, variants=variants), encoding="utf-8")
    _command("run", str(file), "--out", str(folder))
    return read_results(folder)


def _command(*words: str) -> None:
    command = [sys.executable, "-m", "eyelevel", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: no claim
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")


def _median(
    results: StudyResults,
    stack: str,
    variant: str,
    measure: Callable[[JsonMapping], float],
    *,
    difference: bool = True,
) -> float:
    """Return the median over blocks of `measure` of the page itself.

    With `difference`, that of the variant is subtracted from it.
    """
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for row in results.blocks.kept.iter_rows(named=True):
        values[row["block"]][row["stack"]] = measure(results.trial(row["hash"]).record)
    pairs = [(each[f"main/{stack}"], each[f"{variant}/{stack}"]) for each in values.values()]
    return statistics.median(main - (other if difference else 0) for main, other in pairs)


def _first_paint_ms(record: JsonMapping) -> float:
    return float(record["navigation"]["first_contentful_paint_ms"])


def _picture_started_ms(record: JsonMapping) -> float:
    return float(_object(record, PICTURE)["started_ms"])


def _style_wait_ms(record: JsonMapping) -> float:
    """Return the time from the style sheet's request until it is there and names the picture."""
    return _picture_started_ms(record) - float(_object(record, "style.css")["started_ms"])


def _object(record: JsonMapping, name: str) -> JsonMapping:
    return next(each for each in record["objects"] if urlsplit(each["url"]).path == f"/{name}")


def _sum_encoded_bytes(record: JsonMapping) -> float:
    return float(sum(each["encoded_bytes"] or 0 for each in record["objects"]))


def _sum_third_party_bytes(record: JsonMapping) -> float:
    return float(
        sum(
            each["encoded_bytes"] or 0
            for each in record["objects"]
            if urlsplit(each["url"]).hostname not in FIRST_PARTY
        )
    )


if __name__ == "__main__":
    main()
