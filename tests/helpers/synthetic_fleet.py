"""A made-up run on many machines: each of its blocks is on one, and what is known of each."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthetic_run import TWO_STACKS, read_run

from eyelevel.analysis.study import StudyResults
from eyelevel.plan.trials import Trial
from eyelevel.store.machines import MACHINE_VERSION, machine_file


class Placed:
    """Places of trials: blocks go to `machines` in turn. `quic` takes `factors` times as long on
    those that have one."""

    def __init__(self, machines: Sequence[str], factors: Mapping[str, float] | None = None) -> None:
        self._machines, self._factors = machines, factors or {}
        self._blocks: dict[str, int] = {}

    def machine(self, trial: Trial) -> str:
        """Return the machine of the trial's block."""
        return self._machines[
            self._blocks.setdefault(trial.block, len(self._blocks)) % len(self._machines)
        ]

    def __call__(self, trial: Trial) -> tuple[dict[str, Any], float]:
        machine = self.machine(trial)
        factor = self._factors.get(machine, 1.0) if trial.stack == "quic" else 1.0
        return {"machine": machine, "slot": 1 + self._blocks[trial.block] % 2}, factor


def write_machine_document(directory: Path, machine: str, **changed: Any) -> None:
    """Write a machine's document, by default of the first class."""
    document = {
        "version": MACHINE_VERSION, "machine": machine, "name": f"host-{machine}", "slots": 2,
        "facts": {"kernel": "6.1"}, "page_load_time_ms": [1000.0], "processor_s": [2.0],
        "problems": [], "class": 1, "reason": "",
    }  # fmt: skip
    file = machine_file(directory, machine)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document | changed))


def fleet_run(
    directory: Path,
    machines: Sequence[str],
    factors: Mapping[str, float] | None = None,
    *,
    blocks: int = 30,
    **named: Any,
) -> StudyResults:
    """Return the results of a run of two stacks on two sites and networks on these machines."""
    for machine in set(machines):
        write_machine_document(directory, machine)
    text = TWO_STACKS.replace("blocks = 6", f"blocks = {blocks}")
    return read_run(directory, named.pop("outcomes", None), text, 0.03, Placed(machines, factors))
