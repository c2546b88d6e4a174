"""Machines on their way to their first block: asked what they are, all slots loading at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from distributed import Future

from eyelevel.cluster.names import SlotName
from eyelevel.errors import ExpectedError
from eyelevel.run.machines.files import write_machine
from eyelevel.run.machines.fleet import Evidence, Fleet, Verdict
from eyelevel.run.study.slots import Event, Joined, Retired

Submit = Callable[..., "Future[Any]"]
Shown = tuple[dict[str, str], tuple[str, ...]]
Times = list[tuple[float, float]]


class Questions(Protocol):
    """What machines are asked; each runs there, and the answers travel."""

    def shown(self) -> Shown:
        """A machine's facts and problems (`eyelevel.run.machines.evidence`); on one slot."""

    def loads(self) -> Times:
        """Page load times in ms and processor times in s of trial loads; on every slot at once."""


@dataclass
class _Candidate:
    slots: dict[str, SlotName] = field(default_factory=dict)
    asked: "Future[Any] | None" = None
    facts: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    loading: "dict[str, Future[Any]]" = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)
    is_admitted: bool = False
    is_refused: bool = False


class Admissions:
    """Of one run. `submit` runs a function on a slot; its futures come back to `over`."""

    def __init__(
        self,
        submit: Submit,
        questions: Questions,
        fleet: Fleet,
        directory: Path,
        told: Callable[[str], None],
    ) -> None:
        self._submit, self._questions = submit, questions
        self._fleet, self._directory, self._told = fleet, directory, told
        self._candidates: dict[str, _Candidate] = {}
        self._evidence: dict[str, Evidence] = {}

    def came(self, slot: str) -> list[Event]:
        """A slot is there; those of an admitted machine take blocks at once."""
        name = SlotName.of(slot)
        candidate = self._candidates.setdefault(name.machine, _Candidate())
        candidate.slots[slot] = name
        if candidate.is_admitted:
            return [Joined(slot, name.machine)]
        if not candidate.is_refused and len(candidate.slots) == name.count:
            candidate.asked = self._submit(slot, self._questions.shown)
        return []

    def went(self, slot: str) -> None:
        """A slot is gone; a machine that was asked is asked anew when it is whole again."""
        candidate = self._candidates[SlotName.of(slot).machine]
        del candidate.slots[slot]
        if not candidate.is_admitted:
            candidate.asked, candidate.loading, candidate.times = None, {}, {}

    def over(self, slot: str, future: "Future[Any]", answer: object) -> list[Event]:
        """A question was answered on a slot; `answer` is an ExpectedError if it raised one."""
        machine = SlotName.of(slot).machine
        candidate = self._candidates[machine]
        if isinstance(answer, ExpectedError):
            candidate.problems = (str(answer),)
            return self._judged(machine, candidate)
        if future is candidate.asked:
            candidate.facts, candidate.problems = cast(Shown, answer)
            if candidate.problems:
                return self._judged(machine, candidate)
            candidate.loading = {
                each: self._submit(each, self._questions.loads) for each in candidate.slots
            }
        elif future is candidate.loading.get(slot):
            candidate.times[slot] = cast(Times, answer)
            if candidate.times.keys() == candidate.slots.keys():
                return self._judged(machine, candidate)
        return []

    def _judged(self, machine: str, candidate: _Candidate) -> list[Event]:
        times: Times = [each for slot in candidate.times.values() for each in slot]
        name = next(iter(candidate.slots.values()))
        evidence = Evidence(
            machine,
            name.host,
            name.count,
            candidate.facts,
            [load_ms for load_ms, _ in times],
            [processor_s for _, processor_s in times],
            candidate.problems,
        )
        self._evidence[machine] = evidence
        events: list[Event] = []
        for verdict in self._fleet.admit(evidence):
            events += self._apply(verdict)
        return events

    def _apply(self, verdict: Verdict) -> Sequence[Event]:
        known = self._evidence.get(verdict.machine)
        candidate = self._candidates.get(verdict.machine)
        if known is not None:
            write_machine(self._directory, known, verdict)
        if candidate is None:
            return []  # of an earlier start, and not here now
        was_admitted = candidate.is_admitted
        candidate.is_admitted = verdict.machine_class is not None
        candidate.is_refused = not candidate.is_admitted
        if candidate.is_admitted and not was_admitted:
            return [Joined(slot, verdict.machine) for slot in candidate.slots]
        if candidate.is_refused:
            assert known is not None
            self._told(f"machine {known.name} is refused: {verdict.reason}")
            return [Retired(slot) for slot in candidate.slots] if was_admitted else []
        return []
