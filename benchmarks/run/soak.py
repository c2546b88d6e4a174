"""One run of many loads: what grows in it?

Every second: memory, descriptors and threads of the command, memory of the lab (the largest since
the second before), processes of both, and what lies on the disk beside the records. Of each the
mean of the last third of the loads is held against that of the first.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

SITE = "synthetic:objects=4,object_bytes=3000,origins=2"
PLAN = """sites = ["{site}"]
networks = ["fios"]
stacks = ["tcp+", "quic"]
reference = "tcp+"
blocks = {blocks}
"""
SAMPLE_S = 1.0
ASKED = 1.05
RECORDS = ("trials", "pictures", "plan.json", "environment.json")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """One of the run's, as `/proc` has it."""

    pid: int
    parent: int
    name: str
    resident_bytes: int


def processes() -> dict[int, Process]:
    """Return all that are there."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has just ended
        fields = rest.split()
        pid = int(folder.name)
        found[pid] = Process(pid, int(fields[1]), name, int(fields[21]) * PAGE_BYTES)
    return found


def below(root: int, found: dict[int, Process]) -> list[Process]:
    """The descendants of `root`."""
    children = defaultdict(list)
    for each in found.values():
        children[each.parent].append(each)
    all_below, waiting = [], [root]
    while waiting:
        new = children[waiting.pop()]
        all_below += new
        waiting += [each.pid for each in new]
    return all_below


def bytes_in(folder: Path) -> int:
    """Return the bytes of all files; those that vanish meanwhile do not count."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{base}/{name}").st_size
            except OSError:
                continue
    return total


def sample(command: int, out: Path, temporary: Path) -> dict[str, float]:
    """One look at the run."""
    found = processes()
    tree = below(command, found)
    labs = [each.resident_bytes for each in tree if each.name.startswith("eyelevel-lab")]
    beside = [path for path in out.iterdir() if path.name not in RECORDS]
    values = {
        "command, resident MB": found[command].resident_bytes / 1e6,
        "command, descriptors": len(os.listdir(f"/proc/{command}/fd")),  # noqa: PTH208
        "command, threads": len(os.listdir(f"/proc/{command}/task")),  # noqa: PTH208
        "processes": len(tree),
        "disk beside records, kB": (
            bytes_in(temporary)
            + sum(bytes_in(path) if path.is_dir() else path.stat().st_size for path in beside)
        )
        / 1e3,
        "temporary folders": len(list(temporary.iterdir())),
    }
    return values | ({"lab, resident MB": max(labs) / 1e6} if labs else {})


def run(loads: int, folder: Path) -> tuple[list[tuple[int, dict[str, float]]], float]:
    """The samples, each with how many loads were done, and how long all took, s."""
    plan, out, temporary = folder / "plan.toml", folder / "run", folder / "tmp"
    plan.write_text(PLAN.format(site=SITE, blocks=loads // 2), encoding="utf-8")
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "EYELEVEL_HOST_WAIT": "0"}
    began_s = time.monotonic()
    samples = []
    command = [sys.executable, "-m", "eyelevel", "run", str(plan), "--out", str(out)]
    with (folder / "output.txt").open("wb") as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        while process.poll() is None:
            trials = out / "trials"
            done = len(list(trials.glob("[!.]*")))
            if 0 < done < loads:  # before the first it starts, after the last it reports
                try:
                    samples.append((done, sample(process.pid, out, temporary)))
                except (OSError, KeyError):
                    continue  # it has just ended
                if len(samples) % 60 == 0:
                    print(done, samples[-1][1], file=sys.stderr, flush=True)
            time.sleep(SAMPLE_S)
    if process.returncode != 0:
        sys.exit((folder / "output.txt").read_text(errors="replace")[-2000:])
    left = [path.name for path in temporary.iterdir()]
    print("left in the temporary folder:", ", ".join(left) or "nothing")
    return samples, time.monotonic() - began_s


def main() -> None:
    """Print a row a quantity."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loads", type=int, default=500)
    parser.add_argument("--json", type=Path, help="Write every sample there.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        samples, took_s = run(arguments.loads, Path(folder))
    if arguments.json:
        arguments.json.write_text(json.dumps(samples), encoding="utf-8")
    print(f"{arguments.loads} loads in {took_s / 60:.0f} min, {len(samples)} samples")
    print(f"| what | first third | last third | last / first, asked: at most {ASKED} |")
    print("| --- | --- | --- | --- |")
    thirds = [
        [values for done, values in samples if low <= done * 3 / arguments.loads < low + 1]
        for low in (0, 1, 2)
    ]
    for name in max((values for _, values in samples), key=len):
        first, last = (
            statistics.fmean(values[name] for values in thirds[n] if name in values) for n in (0, 2)
        )
        ratio = last / first if first else 1.0 + bool(last)
        print(f"| {name} | {first:.2f} | {last:.2f} | {ratio:.3f} |")


if __name__ == "__main__":
    main()
