"""Measure how fast `eyelevel corpus import` is: hundreds of recordings of four formats against its
bound.

Copies of shipped sites as Mahimahi's folders, HAR, WACZ and WARC files, spread over folders, with a
damaged one among ten. Also a second call, which finds all there, `corpus info` of the result, and
making 100 of the sites of `das2014`. Nothing is asserted; `benchmarks/results` keeps results with
their machine. Takes about 1 GB of the temporary folder.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.shared.command import HEADING, Figure, parser_of
from eyelevel.lab.binary import run_tool
from eyelevel.sites.recorded import list_shipped

RECORDINGS = 240
ROUNDS = 3
DAMAGED_EVERY = 10
SITES = ("agency", "blog", "flags", "japanese", "landing", "modules")
"""The sites, of 15 to 300 objects and 0.07 to 1.6 MB."""


def made(folder: Path) -> None:
    """Write the recordings of others."""
    kinds = [_mahimahi, _har, _wacz, _warc]
    for number in range(RECORDINGS):
        site = list_shipped()[SITES[number % len(SITES)]]
        place = folder / f"part-{number // 40}"
        place.mkdir(parents=True, exist_ok=True)
        written = kinds[number % len(kinds)](site, place / f"{number:03}")
        if number % DAMAGED_EVERY == DAMAGED_EVERY - 1:
            victim = max(written.iterdir()) if written.is_dir() else written
            content = victim.read_bytes()
            victim.write_bytes(content[: len(content) // 2])


def _mahimahi(site: Path, out: Path) -> Path:
    run_tool(["archive", "export", str(site), "--mahimahi", str(out)])
    return out


def _har(site: Path, out: Path) -> Path:
    file = out.with_suffix(".har")
    run_tool(["archive", "export", str(site), "--har", str(file)])
    return file


def _wacz(site: Path, out: Path) -> Path:
    return Path(shutil.copy(site, out.with_suffix(".wacz")))


def _warc(site: Path, out: Path) -> Path:
    with zipfile.ZipFile(site) as packed:
        name = next(each for each in packed.namelist() if each.endswith((".warc", ".warc.gz")))
        file = out.with_suffix(".warc.gz" if name.endswith(".gz") else ".warc")
        file.write_bytes(packed.read(name))
    return file


def measured(folder: Path) -> Iterator[Figure]:
    """Yield each figure, over rounds."""
    source = folder / "in"
    made(source)
    rates, again, info = [], [], []
    for number in range(ROUNDS):
        out = folder / f"out-{number}"
        command = ("corpus", "import", str(source), "--out", str(out))
        rates.append(60 * RECORDINGS / _seconds(*command))
        again.append(60 * RECORDINGS / _seconds(*command))
        info.append(_seconds("corpus", "info", str(out)))
    yield Figure(f"import {RECORDINGS} recordings, recordings/min", ">= 50", rates)
    yield Figure("the same again, all there, recordings/min", "", again)
    yield Figure("corpus info of them, s", "", info)
    making = []
    for number in range(ROUNDS):
        listed = folder / "hundred.txt"
        listed.write_text("".join(f"synthetic:like=das2014,site={n}\n" for n in range(1, 101)))
        cache = {"XDG_CACHE_HOME": str(folder / f"cache-{number}")}
        making.append(_seconds("corpus", "info", str(listed), **cache))
        shutil.rmtree(folder / f"cache-{number}")
    yield Figure("make and describe 100 sites of das2014, s", "", making)


def _seconds(*arguments: str, **environment: str) -> float:
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "eyelevel.cli.main", *arguments],
        capture_output=True,
        check=True,
        env=os.environ | environment,
        timeout=900,
    )
    return time.monotonic() - began


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    print(HEADING)
    with tempfile.TemporaryDirectory() as temporary:
        for figure in measured(Path(temporary)):
            print(figure.line())
