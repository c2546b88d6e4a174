"""The machines of a run in `machines/ID.json` (`eyelevel.store.machines`), and back as a fleet."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from eyelevel.run.machines.fleet import Evidence, Fleet, Verdict
from eyelevel.store.directory import json_bytes, refusals
from eyelevel.store.disk.whole import write_whole
from eyelevel.store.machines import MACHINE_VERSION, machine_file, read_machines


def write_machine(
    directory: Path, evidence: Evidence, verdict: Verdict, retired: Mapping[int, str]
) -> None:
    """Write a machine's document, replacing an earlier one. Raises StoreError.

    `retired`: the reasons of retired slots, by slot number.
    """
    file = machine_file(directory, evidence.machine)
    document = {
        "version": MACHINE_VERSION,
        **{each.name: getattr(evidence, each.name) for each in fields(evidence)},
        "facts": dict(evidence.facts),
        "environment": dict(evidence.environment),
        "class": verdict.machine_class,
        "reason": verdict.reason,
        "admitted": verdict.is_admitted,
        "retired": [{"slot": slot, "reason": reason} for slot, reason in sorted(retired.items())],
    }
    with refusals(file):
        file.parent.mkdir(exist_ok=True)
        write_whole(file, json_bytes(document))


def read_retired(directory: Path) -> dict[str, dict[int, str]]:
    """Return why slots were retired, by machine and slot number. Raises StoreError."""
    return {
        machine: {each["slot"]: each["reason"] for each in document.get("retired", ())}
        for machine, document in read_machines(directory).items()
    }


def read_fleet(directory: Path, *, allow_heterogeneous: bool) -> Fleet:
    """Return the machines that have loads or may get some. Raises StoreError for a damaged file."""
    fleet = Fleet(allow_heterogeneous)
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
                document.get("environment", {}),
            )
            fleet.members[evidence.machine] = evidence, document["class"]
    return fleet
