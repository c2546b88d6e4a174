#!/usr/bin/env python
"""Makes the golden archive, record, plan and bundle in `vectors/golden` from what is kept there.

What this makes must be what is there: a commit that changes a format runs it. Files of a tagged
version never change (docs/reference/frozen.md); a later format goes into a folder of its own:

    .venv/bin/python scripts/golden.py --out FOLDER

`inputs/` has a plan, a trace, and what a real run of this plan observed; the sites are the small
one of the tests and the one partly over http. The same inputs give the same bytes. Observations are
taken as they are. Where a key of them changes, change it in `inputs/loads.json`, too; or run the
plan anew in `vectors/golden` (`eyelevel run inputs/plan.toml --out /tmp/run`) and keep what that
observed, with `--observe /tmp/run`. `tests/formats/test_golden.py` reads all of it, and says when
it is stale.
"""

import argparse
import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from mixed_site import pack_mixed
from small_site import BODIES, pack_small_site

from eyelevel.cli.run.plan_text import read_plan
from eyelevel.plan.trials import Site, expand, plan_document
from eyelevel.run.bundle.bundle import RunInputs, write_bundle
from eyelevel.sites.recorded import open_site
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    PLAN_FILE,
    iterate_trials,
    read_document,
    write_document,
)
from eyelevel.store.frames import Frame, Frames
from eyelevel.store.schema import RECORD_VERSION

GOLDEN = Path(__file__).resolve().parents[1] / "vectors" / "golden"
INPUTS = GOLDEN / "inputs"
SITE, MIXED, RUN, BUNDLE = "small.wacz", "mixed.wacz", "run", "run.zip"
LOCKS = {"installed.txt": b"eyelevel==0.1.0\n", "Cargo.lock": b"", "requirements.lock": b""}


def observe(run: Path) -> None:
    """Keep what the loads of `run` observed, each picture as a file of its own."""
    shutil.rmtree(INPUTS / "pictures", ignore_errors=True)
    (INPUTS / "pictures").mkdir()
    loads = []
    for trial in iterate_trials(run):
        observed = {k: v for k, v in trial.record.items() if k not in ("version", "trial")}
        frames = [_keep(each) for each in (trial.frames(), *trial.step_frames())]
        key = {name: trial.record["trial"][name] for name in ("network", "stack")}
        loads.append({**key, "pictures": frames, "record": observed})
    loads.sort(key=lambda load: (load["network"], load["stack"]))
    # No quiet machine has a load that failed before.
    first = loads[0]["record"]
    failed = {"outcome": "browser-crashed", "outcome_detail": "made up", "navigation": None}
    first["retried"] = [failed | {key: first[key] for key in ("started_at", "host")}]
    _write_json(INPUTS / "loads.json", loads)
    _write_json(INPUTS / ENVIRONMENT_FILE, read_document(run, ENVIRONMENT_FILE))


def make(out: Path) -> None:
    """Write archive, run and bundle into the folder `out`."""
    # Kept, since encoders of PNG differ.
    picture = ("image/png", (INPUTS / "picture.png").read_bytes())
    bodies = {**BODIES, "picture.png": picture}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(pack_small_site(Path(folder), bodies), out / SITE)
        mixed = pack_mixed(Path(folder), "http", (picture[1], picture[1]))
        shutil.copyfile(mixed, out / MIXED)
    with contextlib.chdir(GOLDEN):
        plan = read_plan(str(INPUTS / "plan.toml"), [])
    site, run = open_site(str(out / SITE)), out / RUN
    planned = Site(site.name, site.digest, site.body_bytes())
    trials = expand(plan, [planned])
    shutil.rmtree(run, ignore_errors=True)
    write_document(run, PLAN_FILE, plan_document(plan, [planned], trials))
    write_document(run, ENVIRONMENT_FILE, json.loads((INPUTS / ENVIRONMENT_FILE).read_text()))
    loads = json.loads((INPUTS / "loads.json").read_text())
    by_key = {(load["network"], load["stack"]): load for load in loads}
    for trial in trials:
        load = by_key[trial.network, trial.stack]
        record = {"version": RECORD_VERSION, "trial": trial.record_key(), **load["record"]}
        steps = record["after_load"]
        frames, *step_frames = (
            _frames(entry["frames"], names)
            for entry, names in zip((record, *steps), load["pictures"], strict=True)
        )
        write_trial(run, record, frames, step_frames)
    files = {digest: Path(file) for digest, file in plan.trace_files.items()}
    write_bundle(run, RunInputs({site.name: site}, files, LOCKS), out / BUNDLE)


def _keep(frames: Frames) -> list[str]:
    names = []
    for frame in frames:
        name = hashlib.sha256(frame.picture.tobytes()).hexdigest()[:8]
        Image.fromarray(frame.picture).save(INPUTS / "pictures" / f"{name}.png", optimize=True)
        names.append(name)
    return names


def _frames(entries: Sequence[dict[str, Any]], names: Sequence[str]) -> Frames:
    pictures = [np.array(Image.open(INPUTS / "pictures" / f"{name}.png")) for name in names]
    times = [entry["at_ms"] for entry in entries]
    return Frames.of([Frame(at_ms, p) for at_ms, p in zip(times, pictures, strict=True)])


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Make all, after keeping what a run observed where one is named."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--observe", type=Path, metavar="RUN", help="keep its loads as inputs")
    parser.add_argument("--out", type=Path, default=GOLDEN, help="a folder that is there")
    arguments = parser.parse_args()
    if arguments.observe:
        observe(arguments.observe)
    make(arguments.out.resolve())


if __name__ == "__main__":
    main()
