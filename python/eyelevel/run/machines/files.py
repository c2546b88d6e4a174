"""`machines/ID.json` of a run: what each machine showed, and what became of it."""

from dataclasses import asdict
from pathlib import Path

from eyelevel.disk.whole import write_whole
from eyelevel.errors import StoreError
from eyelevel.from_outside.files import read_bytes
from eyelevel.from_outside.json_text import parse_object
from eyelevel.from_outside.limits import DOCUMENT
from eyelevel.from_outside.source import Source
from eyelevel.json_types import JsonObject
from eyelevel.run.machines.fleet import Evidence, Fleet, Verdict
from eyelevel.store.directory import json_bytes, refusals

MACHINES = "machines"
VERSION = 1


def write_machine(directory: Path, evidence: Evidence, verdict: Verdict) -> None:
    """Keep it, in the place of what was known of the machine. Raises StoreError."""
    folder = directory / MACHINES
    file = folder / f"{evidence.machine}.json"
    document = {
        "version": VERSION,
        **asdict(evidence),
        "facts": dict(evidence.facts),
        "class": verdict.machine_class,
        "reason": verdict.reason,
    }
    with refusals(file):
        folder.mkdir(exist_ok=True)
        write_whole(file, json_bytes(document))


def read_fleet(directory: Path, *, mixed: bool) -> Fleet:
    """The machines that were admitted before. Raises StoreError at a damaged file."""
    fleet = Fleet(mixed)
    for file in sorted((directory / MACHINES).glob("*.json")):
        document = read_machine(file)
        if document["class"] is not None:
            evidence = Evidence(
                document["machine"],
                document["name"],
                document["slots"],
                document["facts"],
                document["page_load_time_ms"],
                document["processor_s"],
                document["problems"],
            )
            fleet.members[evidence.machine] = evidence, document["class"]
    return fleet


def read_machine(file: Path) -> JsonObject:
    """One machine's file; raises StoreError when it is damaged or of another version."""
    source = Source(str(file), DOCUMENT, StoreError)
    document = parse_object(read_bytes(file, source), source)
    if document.get("version") != VERSION:
        raise StoreError(
            f"reading {file}: its version is not {VERSION}; use the eyelevel that wrote it"
        )
    return document
