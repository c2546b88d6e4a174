"""Compare pages that differ by a known time: `python -m benchmarks.run.page_studies --ms 50`.

Needs root and a quiet machine. A generated page has style, pictures and a script that keeps the
processor busy for 60 ms before it sets the mark `ready`. The script of the other variant takes so
much longer; with `--ms 0`, only a comment differs. Both are recorded once. Each study is a run of
its own with the stop rule, over 40 ms of round trip at 20 Mbit/s, and asks about the mark or
`--metric`. A line per study has its seconds from command to verdict, its blocks, the verdict and
the gain with its interval; the last line counts the claims. Nothing is asserted.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.shared.command import machine, parser_of
from eyelevel.analysis.claims import verdict_of
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.plan.file.change import BLOCKS_MAX

BUSY_MS = 60
PICTURES = 6
PLAN = """seed = {seed}
sites = ["{folder}/main.wacz"]
stacks = ["{stack}"]
reference = "main"
blocks = {blocks}
primary_metric = "{metric}"
[[variants]]
name = "main"
[[variants]]
name = "pr"
recordings = ["{folder}/pr.wacz"]
[[networks]]
name = "40ms"
rtt = "40ms"
down = "rate 20 Mbit/s, queue droptail 100ms"
up = "rate 5 Mbit/s, queue droptail 100ms"
[stop]
"""
PAGE = """<!doctype html><title>Shop</title>{comment}
<link rel=stylesheet href=style.css>
<h1>Shop</h1><p>{words}
<script>
for (const end = performance.now() + {busy_ms}; performance.now() < end; );
performance.mark("ready");
document.write("<h2>Ready</h2>");
</script>
{pictures}
"""


def main() -> None:
    """Print a line per study and how many claim a difference."""
    parser = parser_of(__doc__)
    parser.add_argument("--ms", type=int, default=50, help="what the script takes longer")
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--stack", default="quic")
    parser.add_argument("--metric", default="mark:ready")
    parser.add_argument("--blocks", type=int, default=BLOCKS_MAX, help="the most in a study")
    parser.add_argument("--seed", type=int, default=1, help="of the first study")
    asked = parser.parse_args()
    print(machine())
    claims = 0
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as name:
        folder = Path(name)
        _record(folder, "main", BUSY_MS)
        _record(folder, "pr", BUSY_MS + asked.ms)
        for seed in range(asked.seed, asked.seed + asked.studies):
            plan = PLAN.format(
                seed=seed,
                folder=folder,
                stack=asked.stack,
                metric=asked.metric,
                blocks=asked.blocks,
            )
            began_s = time.monotonic()
            results = _run(folder / f"{seed}", plan)
            seconds = time.monotonic() - began_s
            line, is_claim = _describe(results)
            claims += is_claim
            print(
                f"{asked.stack} {asked.ms:+} ms, seed {seed}: {seconds:.0f} s, {line}", flush=True
            )
    print(f"{claims} of {asked.studies} claim a difference; {machine()}")


def _record(folder: Path, variant: str, busy_ms: int) -> None:
    """Write the page of a variant and record it into `folder`."""
    pages = folder / variant
    pages.mkdir()
    text = PAGE.format(
        comment=f"<!-- {variant} -->",
        words="Everything for your garden. " * 200,
        busy_ms=busy_ms,
        pictures="".join(f'<img src="{n}.svg" width=200 height=150>' for n in range(PICTURES)),
    )
    (pages / "index.html").write_text(text, encoding="utf-8")
    (pages / "style.css").write_text("body { font: 18px sans-serif }\n" * 200, encoding="utf-8")
    for number in range(PICTURES):
        dots = "".join(
            f'<circle cx="{(n * 37 + number * 11) % 200}" cy="{(n * 53) % 150}" r="3"/>'
            for n in range(300)
        )
        picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="150">{dots}</svg>'
        (pages / f"{number}.svg").write_text(picture, encoding="utf-8")
    _command("record", f"{pages}/", "--out", str(folder / f"{variant}.wacz"))


def _run(folder: Path, plan: str) -> StudyResults:
    file = folder.with_suffix(".toml")
    file.write_text(plan, encoding="utf-8")
    _command("run", str(file), "--out", str(folder))
    return read_results(folder)


def _command(*words: str) -> None:
    command = [sys.executable, "-m", "eyelevel", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: it was inconclusive
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")


def _describe(results: StudyResults) -> tuple[str, bool]:
    """Return the result in one line, and whether it claims a difference."""
    (gain,) = (each for each in results.gains if each.metric == results.primary_metric)
    verdict = str(verdict_of(results, gain))
    blocks = results.blocks.kept["repetition"].n_unique()
    found = gain.gain
    line = f"{blocks} blocks, {verdict}"
    if found.value is not None and found.low is not None and found.high is not None:
        line += f", {found.value:+.1%} ({found.low:+.1%} to {found.high:+.1%})"
    return line, verdict.startswith(("faster", "slower"))


if __name__ == "__main__":
    main()
