"""Machines on their way to their first block: asked what they are, all slots loading at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from distributed import Future

from eyelevel.cluster.names import SlotName
from eyelevel.errors import ExpectedError
from eyelevel.run.machines.files import read_retired, write_machine
from eyelevel.run.machines.fleet import Evidence, Fleet, Shown, Verdict
from eyelevel.run.machines.retirement import LOSSES_IN_A_ROW, SlotFailures, SlotLosses, has_failed
from eyelevel.run.study.slots import Event, SlotAdded, SlotRetired
from eyelevel.store.packed import PackedTrial

Submit = Callable[..., "Future[Any]"]
Times = list[tuple[float, float]]
NOTHING_SHOWN = Shown({})


class Questions(Protocol):
    """What machines are asked; each runs there, and the answers travel."""

    def shown(self) -> Shown:
        """What a machine is (`eyelevel.run.machines.evidence`); on one slot."""

    def loads(self) -> Times:
        """Page load times in ms and processor times in s of trial loads; on every slot at once."""


@dataclass
class _Candidate:
    slots: dict[str, SlotName] = field(default_factory=dict)
    asked: "Future[Any] | None" = None
    shown: Shown = NOTHING_SHOWN
    loading: "dict[str, Future[Any]]" = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)
    is_admitted: bool = False
    is_refused: bool = False
    judged: frozenset[str] = frozenset()
    """The slots that were there when it was refused: it is asked anew when none of them is."""
    retired: dict[int, str] = field(default_factory=dict)
    """Why slots take no further block, by their numbers."""
    loaded: Evidence | None = None
    """Of the time before it went and came back, in this run: its trial loads hold."""

    @property
    def takes_nothing(self) -> bool:
        """Whether it is refused, or each of its slots that are here is retired."""
        numbers = {name.number for name in self.slots.values()}
        return self.is_refused or (bool(numbers) and numbers <= self.retired.keys())


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
        self._failures, self._losses = SlotFailures(), SlotLosses()
        # Those of an earlier start, too: when others come, what they loaded may be found apart.
        self._evidence = {machine: known for machine, (known, _) in fleet.members.items()}
        self._verdicts: dict[str, Verdict] = {}
        self._retired_before = read_retired(directory)

    @property
    def refused(self) -> set[str]:
        """The IDs of machines that are here and take no block."""
        return {machine for machine, each in self._candidates.items() if each.takes_nothing}

    def came(self, slot: str) -> list[Event]:
        """A slot is there; those of an admitted machine take blocks at once."""
        name = SlotName.of(slot)
        candidate = self._candidates.setdefault(name.machine, _Candidate())
        candidate.slots[slot] = name
        if candidate.is_admitted:
            return _joining(candidate, [slot])
        if len(candidate.slots) == name.count and not candidate.judged & candidate.slots.keys():
            candidate.is_refused, candidate.judged = False, frozenset()
            candidate.loading, candidate.times = {}, {}
            if candidate.loaded and candidate.loaded.slots != name.count:
                candidate.loaded = None  # so many at once have other times
            candidate.asked = self._submit(slot, self._questions.shown)
        return []

    def went(self, slot: str) -> None:
        """A slot is gone; a machine that was asked is asked anew when it is whole again, and so is
        one that is gone as a whole: it may come back as another."""
        machine = SlotName.of(slot).machine
        candidate = self._candidates[machine]
        del candidate.slots[slot]
        if not candidate.slots:
            loaded = self._evidence[machine] if candidate.is_admitted else candidate.loaded
            self._candidates[machine] = _Candidate(retired=candidate.retired, loaded=loaded)
        elif not candidate.is_admitted:
            candidate.asked, candidate.loading, candidate.times = None, {}, {}

    def over(self, slot: str, future: "Future[Any]", answer: object) -> list[Event]:
        """A question was answered on a slot; `answer` is an ExpectedError if it raised one."""
        machine = SlotName.of(slot).machine
        candidate = self._candidates[machine]
        is_asked = future is candidate.asked or future is candidate.loading.get(slot)
        if not is_asked or candidate.is_refused:
            return []  # it was asked anew meanwhile, or another slot's answer was enough
        if isinstance(answer, ExpectedError):
            candidate.shown = candidate.shown._replace(problems=(str(answer),))
            return self._judged(machine, candidate)
        if future is candidate.asked:
            candidate.shown = cast(Shown, answer)
            if candidate.shown.problems or candidate.loaded:
                return self._judged(machine, candidate)
            candidate.loading = {
                each: self._submit(each, self._questions.loads) for each in candidate.slots
            }
        else:
            candidate.times[slot] = cast(Times, answer)
            if candidate.times.keys() == candidate.slots.keys():
                return self._judged(machine, candidate)
        return []

    def _judged(self, machine: str, candidate: _Candidate) -> list[Event]:
        times: Times = [each for slot in candidate.times.values() for each in slot]
        name = next(iter(candidate.slots.values()))
        before = candidate.loaded
        evidence = Evidence(
            machine,
            name.host,
            name.count,
            candidate.shown.facts,
            before.page_load_time_ms if before else [load_ms for load_ms, _ in times],
            before.processor_s if before else [processor_s for _, processor_s in times],
            candidate.shown.problems,
            candidate.shown.environment,
        )
        verdicts = self._fleet.admit(evidence)
        # Of what comes back the file keeps what it was when its loads were given their class.
        self._evidence[machine], _ = self._fleet.members.get(machine, (evidence, None))
        return [event for verdict in verdicts for event in self._apply(verdict)]

    def _apply(self, verdict: Verdict) -> Sequence[Event]:
        known = self._evidence[verdict.machine]
        self._verdicts[verdict.machine] = verdict
        self._keep(verdict.machine)
        candidate = self._candidates.get(verdict.machine) or _Candidate()  # it is not here now
        was_admitted = candidate.is_admitted
        candidate.is_admitted = verdict.is_admitted
        candidate.is_refused = not verdict.is_admitted
        if candidate.is_admitted and not was_admitted:
            return _joining(candidate, candidate.slots)
        if candidate.is_refused:
            candidate.judged = frozenset(candidate.slots)
            self._tell_refused(known, verdict.reason)
            return [SlotRetired(slot) for slot in candidate.slots] if was_admitted else []
        return []

    def _tell_refused(self, evidence: Evidence, reason: str) -> None:
        """And how many are not; if most are like this one, the one to do without is the first."""
        here = [each for each in self._candidates.values() if each.slots]
        admitted = sum(each.is_admitted for each in here)
        judged = admitted + sum(each.is_refused for each in here)
        line = f"machine {evidence.name} was refused: {reason}; {admitted} of {judged} admitted"
        if (alike := self._fleet.alike(evidence.machine)) > admitted > 0:
            line += (
                f", {alike} are like this one: a new run without {self._fleet.first()} admits them"
            )
        self._told(line)

    def lost(self, slot: str, block: int, why: str) -> list[Event]:
        """A slot is lost with a block, and it may be the slot's fault: it takes no further one if
        that is so again and again, nor do the others of a machine on which all are lost."""
        name = SlotName.of(slot)
        candidate = self._candidates[name.machine]
        numbers = self._losses.lost(name.machine, name.number, name.count, block)
        anew = [number for number in numbers if number not in candidate.retired]
        if not anew:
            return []
        reason = f"it was lost {LOSSES_IN_A_ROW} or more times in a row, each with a block"
        reason += f", the last time by {why}" if why else ""
        candidate.retired |= dict.fromkeys(anew, reason)
        self._keep(name.machine)
        if len(anew) > 1:
            self._told(
                f"machine {name.host} takes no further block: each of its {name.count} slots was "
                f"lost with its last one; of slot {name.number}, {reason}"
            )
        else:
            self._told(f"slot {name.number} of machine {name.host} is retired: {reason}")
        return [SlotRetired(each) for each, its in candidate.slots.items() if its.number in anew]

    def ended(self, slot: str, trials: Sequence[PackedTrial]) -> list[Event]:
        """Loads of a block that ended on a slot, which is retired if too many of its loads fail."""
        name = SlotName.of(slot)
        candidate = self._candidates[name.machine]
        self._losses.ended(name.machine, name.number)
        reason = self._failures.add(f"{name.machine}/{name.number}", map(has_failed, trials))
        if not reason or name.number in candidate.retired or candidate.is_refused:
            return []
        candidate.retired[name.number] = reason
        self._keep(name.machine)
        self._told(f"slot {name.number} of machine {name.host} is retired: {reason}")
        return [SlotRetired(slot)]

    def _keep(self, machine: str) -> None:
        candidate = self._candidates.get(machine) or _Candidate()
        retired = {**self._retired_before.get(machine, {}), **candidate.retired}
        write_machine(self._directory, self._evidence[machine], self._verdicts[machine], retired)


def _joining(candidate: _Candidate, slots: Iterable[str]) -> list[Event]:
    """Those that are not retired."""
    names = {slot: candidate.slots[slot] for slot in slots}
    return [
        SlotAdded(slot, name.machine)
        for slot, name in names.items()
        if name.number not in candidate.retired
    ]
