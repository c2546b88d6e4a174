"""The machines of a run in `machines/ID.json` (`eyelevel.store.machines`), and back as a fleet."""

from dataclasses import asdict
from pathlib import Path

from eyelevel.disk.whole import write_whole
from eyelevel.run.machines.fleet import Evidence, Fleet, Verdict
from eyelevel.store.directory import json_bytes, refusals
from eyelevel.store.machines import MACHINE_VERSION, machine_file, read_machines


def write_machine(directory: Path, evidence: Evidence, verdict: Verdict) -> None:
    """Keep it, in the place of what was known of the machine. Raises StoreError."""
    file = machine_file(directory, evidence.machine)
    document = {
        "version": MACHINE_VERSION,
        **asdict(evidence),
        "facts": dict(evidence.facts),
        "class": verdict.machine_class,
        "reason": verdict.reason,
    }
    with refusals(file):
        file.parent.mkdir(exist_ok=True)
        write_whole(file, json_bytes(document))


def read_fleet(directory: Path, *, mixed: bool) -> Fleet:
    """The machines that were admitted before. Raises StoreError at a damaged file."""
    fleet = Fleet(mixed)
    for document in read_machines(directory).values():
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
