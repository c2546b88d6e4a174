"""Runs that are copied: what tests of buckets share."""

import json
from pathlib import Path
from typing import Any

from faulty_bucket import Clock, FaultyBucket

from eyelevel.run.bucket.copies import Copies
from eyelevel.run.bucket.layout import blocks_of
from eyelevel.store.machines import machine_file

MACHINE = "0123456789"
URL = "s3://bucket/run"


class Run:
    """A run that is all there, of 12 blocks of 3 stacks."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.plan = json.loads((directory / "plan.json").read_bytes())
        self.blocks = blocks_of((each["block"], each["hash"]) for each in self.plan["trials"])


def copies(
    run: Run, bucket: FaultyBucket, clock: Clock | None = None, beside: bool = False, **named: Any
) -> Copies:
    """Start copies of a run, which waits for them unless loads are `beside`."""
    clock = clock or Clock()
    return Copies(
        bucket, URL, run.directory, run.blocks, is_beside_loads=beside, clock=clock,
        sleep=clock.sleep, **named,
    )  # fmt: skip


def copy_all(run: Run, bucket: FaultyBucket, clock: Clock | None = None) -> None:
    """Copy all of a run, like a resumed run without remaining loads."""
    copying = copies(run, bucket, clock)
    try:
        copying.begin()
        copying.finish()
    finally:
        copying.close()


def tree(directory: Path) -> dict[str, bytes]:
    """Return the contents of a run's own files."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in files
        if not path.name.startswith(".copied-") and path.name != "fetch.json"
    }


def write_machine(directory: Path, machine: str, of_class: int) -> None:
    """Write a machine's file in a run."""
    observed: dict[str, Any] = {key: [] for key in ("page_load_time_ms", "processor_s", "problems")}
    document = {
        "version": 1,
        "machine": machine,
        "name": "lab",
        "slots": 1,
        "facts": {},
        **observed,
    }
    file = machine_file(directory, machine)
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({**document, "class": of_class, "reason": ""}))
