"""Admit machines before their first block: each is described and makes trial loads on all slots."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from distributed import Future

from eyelevel.base.errors import ExpectedError
from eyelevel.cluster.names import SlotName
from eyelevel.run.machines.fleet import (
    LOSSES_IN_A_ROW,
    Evidence,
    Fleet,
    MachineDescription,
    SlotFailures,
    SlotLosses,
    Verdict,
    has_failed,
    read_retired,
    write_machine,
)
from eyelevel.run.study.slots import Event, SlotAdded, SlotRetired
from eyelevel.store.packed import PackedTrial

Submit = Callable[..., "Future[Any]"]
Times = list[tuple[float, float]]
UNDESCRIBED = MachineDescription({})


class Questions(Protocol):
    """Calls that are made on a machine to judge it."""

    def describe_machine(self) -> MachineDescription:
        """Describe the machine (`eyelevel.run.machines.evidence`); called on one slot."""

    def measure_loads(self) -> Times:
        """Return page load times, ms, and CPU times, s, of trial loads.

        Called on all slots at once.
        """


@dataclass
class _Candidate:
    slots: dict[str, SlotName] = field(default_factory=dict)
    describing: "Future[Any] | None" = None
    description: MachineDescription = UNDESCRIBED
    loading: "dict[str, Future[Any]]" = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)
    is_admitted: bool = False
    is_refused: bool = False
    judged: frozenset[str] = frozenset()
    """Slots present when the machine was refused; it is judged again once none of them is left."""
    retired: dict[int, str] = field(default_factory=dict)
    """Reason for each retired slot, by slot number."""
    loaded: Evidence | None = None
    """Evidence from before the machine left during this run; its trial loads remain valid."""

    @property
    def takes_nothing(self) -> bool:
        """Whether it is refused or all of its present slots are retired."""
        numbers = {name.number for name in self.slots.values()}
        return self.is_refused or (bool(numbers) and numbers <= self.retired.keys())


class Admissions:
    """Admissions of one run: judges machines, and retires slots that fail.

    `submit` runs a function on a slot; its futures come back through `on_answer`.
    """

    def __init__(
        self,
        submit: Submit,
        questions: Questions,
        fleet: Fleet,
        directory: Path,
        report: Callable[[str], None],
    ) -> None:
        self._submit, self._questions = submit, questions
        self._fleet, self._directory, self._report = fleet, directory, report
        self._candidates: dict[str, _Candidate] = {}
        self._failures, self._losses = SlotFailures(), SlotLosses()
        # Include machines of earlier starts: a new machine can show that their loads differ.
        self._evidence = {machine: known for machine, (known, _) in fleet.members.items()}
        self._verdicts: dict[str, Verdict] = {}
        self._retired_before = read_retired(directory)

    @property
    def refused(self) -> set[str]:
        """Ids of present machines that take no blocks."""
        return {machine for machine, each in self._candidates.items() if each.takes_nothing}

    def on_slot_joined(self, slot: str) -> list[Event]:
        """Handle a joined slot; slots of an admitted machine take blocks at once."""
        name = SlotName.of(slot)
        candidate = self._candidates.setdefault(name.machine, _Candidate())
        candidate.slots[slot] = name
        if candidate.is_admitted:
            return _make_added_events(candidate, [slot])
        if len(candidate.slots) == name.count and not candidate.judged & candidate.slots.keys():
            candidate.is_refused, candidate.judged = False, frozenset()
            candidate.loading, candidate.times = {}, {}
            if candidate.loaded and candidate.loaded.slots != name.count:
                candidate.loaded = None  # another number of slots has other load times
            candidate.describing = self._submit(slot, self._questions.describe_machine)
        return []

    def on_slot_left(self, slot: str) -> None:
        """Handle a slot that left.

        A machine that was being judged is judged again once all its slots are present, and so is
        one that left completely: it may return changed.
        """
        machine = SlotName.of(slot).machine
        candidate = self._candidates[machine]
        del candidate.slots[slot]
        if not candidate.slots:
            loaded = self._evidence[machine] if candidate.is_admitted else candidate.loaded
            self._candidates[machine] = _Candidate(retired=candidate.retired, loaded=loaded)
        elif not candidate.is_admitted:
            candidate.describing, candidate.loading, candidate.times = None, {}, {}

    def on_answer(self, slot: str, future: "Future[Any]", answer: object) -> list[Event]:
        """Handle a slot's answer to a question.

        `answer` is an `ExpectedError` if the call raised one.
        """
        machine = SlotName.of(slot).machine
        candidate = self._candidates[machine]
        is_asked = future is candidate.describing or future is candidate.loading.get(slot)
        if not is_asked or candidate.is_refused:
            return []  # it was asked again meanwhile, or another slot's answer was enough
        if isinstance(answer, ExpectedError):
            candidate.description = candidate.description._replace(problems=(str(answer),))
            return self._judge(machine, candidate)
        if future is candidate.describing:
            candidate.description = cast(MachineDescription, answer)
            if candidate.description.problems or candidate.loaded:
                return self._judge(machine, candidate)
            candidate.loading = {
                each: self._submit(each, self._questions.measure_loads) for each in candidate.slots
            }
        else:
            candidate.times[slot] = cast(Times, answer)
            if candidate.times.keys() == candidate.slots.keys():
                return self._judge(machine, candidate)
        return []

    def _judge(self, machine: str, candidate: _Candidate) -> list[Event]:
        times: Times = [each for slot in candidate.times.values() for each in slot]
        name = next(iter(candidate.slots.values()))
        before = candidate.loaded
        evidence = Evidence(
            machine,
            name.host,
            name.count,
            candidate.description.facts,
            before.page_load_time_ms if before else [load_ms for load_ms, _ in times],
            before.processor_s if before else [processor_s for _, processor_s in times],
            candidate.description.problems,
            candidate.description.environment,
        )
        verdicts = self._fleet.admit(evidence)
        # For a machine that returns, the file keeps its state at the time of its classification.
        self._evidence[machine], _ = self._fleet.members.get(machine, (evidence, None))
        return [event for verdict in verdicts for event in self._apply(verdict)]

    def _apply(self, verdict: Verdict) -> Sequence[Event]:
        known = self._evidence[verdict.machine]
        self._verdicts[verdict.machine] = verdict
        self._keep(verdict.machine)
        candidate = self._candidates.get(verdict.machine) or _Candidate()  # it is absent now
        was_admitted = candidate.is_admitted
        candidate.is_admitted = verdict.is_admitted
        candidate.is_refused = not verdict.is_admitted
        if candidate.is_admitted and not was_admitted:
            return _make_added_events(candidate, candidate.slots)
        if candidate.is_refused:
            candidate.judged = frozenset(candidate.slots)
            self._report_refusal(known, verdict.reason)
            return [SlotRetired(slot) for slot in candidate.slots] if was_admitted else []
        return []

    def _report_refusal(self, evidence: Evidence, reason: str) -> None:
        """Report a refused machine and how many are admitted.

        If most machines resemble it, the line suggests a run without the first machine.
        """
        here = [each for each in self._candidates.values() if each.slots]
        admitted = sum(each.is_admitted for each in here)
        judged = admitted + sum(each.is_refused for each in here)
        line = f"machine {evidence.name} was refused: {reason}; {admitted} of {judged} admitted"
        if (alike := self._fleet.alike(evidence.machine)) > admitted > 0:
            line += (
                f", {alike} are like this one: a new run without {self._fleet.first()} admits them"
            )
        self._report(line)

    def on_slot_lost(self, slot: str, block: int, why: str) -> list[Event]:
        """Handle the loss of a slot with a block, possibly by its own fault.

        A slot is retired after several losses in a row; all slots of a machine on which every slot
        is lost are retired, too.
        """
        name = SlotName.of(slot)
        candidate = self._candidates[name.machine]
        numbers = self._losses.on_lost(name.machine, name.number, name.count, block)
        anew = [number for number in numbers if number not in candidate.retired]
        if not anew:
            return []
        reason = f"it was lost {LOSSES_IN_A_ROW} or more times in a row, each with a block"
        reason += f", the last time by {why}" if why else ""
        candidate.retired |= dict.fromkeys(anew, reason)
        self._keep(name.machine)
        if len(anew) > 1:
            self._report(
                f"machine {name.host} takes no further block: each of its {name.count} slots was "
                f"lost with its last one; of slot {name.number}, {reason}"
            )
        else:
            self._report(f"slot {name.number} of machine {name.host} is retired: {reason}")
        return [SlotRetired(each) for each, its in candidate.slots.items() if its.number in anew]

    def on_loads_finished(self, slot: str, trials: Sequence[PackedTrial]) -> list[Event]:
        """Handle a block's results from a slot, retired if too many loads failed."""
        name = SlotName.of(slot)
        candidate = self._candidates[name.machine]
        self._losses.on_block_finished(name.machine, name.number)
        reason = self._failures.add(f"{name.machine}/{name.number}", map(has_failed, trials))
        if not reason or name.number in candidate.retired or candidate.is_refused:
            return []
        candidate.retired[name.number] = reason
        self._keep(name.machine)
        self._report(f"slot {name.number} of machine {name.host} is retired: {reason}")
        return [SlotRetired(slot)]

    def _keep(self, machine: str) -> None:
        candidate = self._candidates.get(machine) or _Candidate()
        retired = {**self._retired_before.get(machine, {}), **candidate.retired}
        write_machine(self._directory, self._evidence[machine], self._verdicts[machine], retired)


def _make_added_events(candidate: _Candidate, slots: Iterable[str]) -> list[Event]:
    """Return one `SlotAdded` event per slot that is not retired."""
    names = {slot: candidate.slots[slot] for slot in slots}
    return [
        SlotAdded(slot, name.machine)
        for slot, name in names.items()
        if name.number not in candidate.retired
    ]
