"""Decide which machines may load blocks of a run: those that are like the first one.

The machines of a run in `machines/ID.json` (`eyelevel.store.machines`), and back as a fleet. Decide
which slots are retired: those that fail too often, or are lost again and again.
"""

import statistics
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.directory import json_bytes, refusals
from eyelevel.store.disk import write_whole
from eyelevel.store.machines import MACHINE_VERSION, machine_file, read_machines
from eyelevel.store.outcomes import OUTCOMES_BY_NAME
from eyelevel.store.packed import PackedTrial

COMPARED_FROM = 3
"""The fewest machines to compare: of two that differ, either may be the odd one."""
PAGE_LOAD_TIME_SHARE_MAX = 0.05
"""The largest deviation of a machine's page load time from the fleet's median, as a share."""
PROCESSOR_TIME_SHARE_MAX = 0.15
FIRST_CLASS = 1


@dataclass(frozen=True)
class Evidence:
    """The evidence about one machine.

    `facts`: by name, such as `kernel`, equal on machines of a class. `page_load_time_ms` and
    `processor_s`: of its trial loads on all slots at once. `problems`: a sentence for each reason
    that it cannot load at all. `environment`: its description in a report.
    """

    machine: str
    """The machine's ID."""
    name: str
    slots: int
    facts: Mapping[str, str]
    page_load_time_ms: Sequence[float]
    processor_s: Sequence[float]
    problems: Sequence[str] = ()
    environment: JsonMapping = field(default_factory=dict)

    @property
    def typical_load_ms(self) -> float:
        """The median page load time, in ms."""
        return statistics.median(self.page_load_time_ms)

    @property
    def typical_processor_s(self) -> float:
        """The median processor time of a load, in s."""
        return statistics.median(self.processor_s)


class MachineDescription(NamedTuple):
    """A machine's description of itself: `facts`, `problems` and `environment` as in Evidence."""

    facts: dict[str, str]
    problems: tuple[str, ...] = ()
    environment: JsonMapping = MappingProxyType({})


@dataclass(frozen=True)
class Verdict:
    """The decision about one machine: the class of its loads, None if it has none.

    `reason`: one line on why it is not in the first class, or why it gets no blocks.
    """

    machine: str
    machine_class: int | None
    reason: str = ""
    is_admitted: bool = True

    @classmethod
    def refuse(cls, machine: str, reason: str, machine_class: int | None = None) -> "Verdict":
        """Return the verdict of a machine that gets no blocks."""
        return cls(machine, machine_class, reason, is_admitted=False)


@dataclass
class Fleet:
    """The machines of a run so far. `allow_heterogeneous`: those that differ form further classes.

    Classes are of loads: a machine's loads stay in the class in which they were made, with the
    evidence of that time, and a machine that has changed since is refused. Only one event changes a
    class: when the third machine of the first class joins, all three are compared.
    """

    allow_heterogeneous: bool = False
    members: dict[str, tuple[Evidence, int]] = field(default_factory=dict)
    """The machines with loads, with their class, by ID; a resumed run begins with the earlier
    ones."""
    _refused: dict[str, Evidence] = field(default_factory=dict, init=False)
    """The machines that differ and have no loads."""

    def admit(self, evidence: Evidence) -> list[Verdict]:
        """Decide about a machine that joins, and return the verdicts.

        The third machine may change the decisions about others, which come first.
        """
        self._refused.pop(evidence.machine, None)
        if evidence.machine in self.members:
            return [self._readmit(evidence)]
        if evidence.problems:
            return [Verdict.refuse(evidence.machine, evidence.problems[0])]
        first = self._of_class(FIRST_CLASS)
        reason = self._describe_difference(evidence)
        if not reason and len(first) >= COMPARED_FROM:
            reason = _describe_outlier(evidence, first)
        if reason:
            return [self._place_apart(evidence, reason)]
        self.members[evidence.machine] = evidence, FIRST_CLASS
        odd = self._odd_ones() if len(first) + 1 == COMPARED_FROM else {}
        # The joining machine is last: once it is stored, so are the verdicts that it caused.
        verdicts = [
            self._reclassify(each, why) for each, why in odd.items() if each != evidence.machine
        ]
        if evidence.machine in odd:
            del self.members[evidence.machine]
            return [*verdicts, self._place_apart(evidence, odd[evidence.machine])]
        return [*verdicts, Verdict(evidence.machine, FIRST_CLASS)]

    def alike(self, machine: str) -> int:
        """Return how many refused machines have the facts of this one, itself included.

        0 if it was not refused.
        """
        its = self._refused.get(machine)
        return sum(its is not None and not differing(its.facts, each.facts) for each in
                   self._refused.values())  # fmt: skip

    def first(self) -> str:
        """Return the name of the machine that others are compared with; empty without any."""
        return next((each.name for each in self._of_class(FIRST_CLASS)), "")

    def _readmit(self, evidence: Evidence) -> Verdict:
        """Decide about a machine that has loads already.

        If it has changed, two different machines would share its name, and it is refused.
        """
        before, number = self.members[evidence.machine]
        reason = evidence.problems[0] if evidence.problems else ""
        if not reason:
            reason = _describe_change(evidence, before)
        is_measured = evidence.page_load_time_ms != before.page_load_time_ms
        others = [each for each in self._of_class(number) if each.machine != before.machine]
        if not reason and is_measured and len(others) + 1 >= COMPARED_FROM:
            reason = _describe_outlier(evidence, others)
        if not reason and number != FIRST_CLASS:
            reason = f"it is of class {number}, as it was before"
            if self.allow_heterogeneous:
                return Verdict(evidence.machine, number, reason)
            reason += "; --allow-heterogeneous takes it"
        if reason:
            return Verdict.refuse(evidence.machine, reason, number)
        return Verdict(evidence.machine, number)

    def _describe_difference(self, evidence: Evidence) -> str:
        first = self._of_class(FIRST_CLASS)
        difference = differing(first[0].facts, evidence.facts) if first else ""
        return f"{difference}, unlike {first[0].name}" if difference else ""

    def _odd_ones(self) -> dict[str, str]:
        """Return the machines of the first class that are too far from its medians, with reasons.

        The farthest comes first, since it moves the medians. If no two machines are alike, the
        median one stays, so that the class has loads of one kind.
        """
        all_of_it = left = self._of_class(FIRST_CLASS)
        found: dict[str, str] = {}
        while max(_distance(each, left)[0] for each in left) > 1:
            worst = max(left, key=lambda each: _distance(each, all_of_it)[0])
            found[worst.machine] = _distance(worst, all_of_it)[1]
            left = [each for each in left if each.machine != worst.machine]
        if len(left) > 1:
            return found
        none_alike = f"no two of {len(all_of_it)} machines are alike"
        return {machine: f"{reason}, and {none_alike}" for machine, reason in found.items()}

    def _reclassify(self, machine: str, reason: str) -> Verdict:
        """Move a machine's loads into a class of their own."""
        evidence, _ = self.members.pop(machine)
        if self.allow_heterogeneous:
            return self._place_apart(evidence, reason)
        number = self._next_class()
        self.members[machine] = evidence, number
        return Verdict.refuse(
            machine, f"{reason}; --allow-heterogeneous takes it as another class", number
        )

    def _place_apart(self, evidence: Evidence, reason: str) -> Verdict:
        if not self.allow_heterogeneous:
            self._refused[evidence.machine] = evidence
            reason = f"{reason}; --allow-heterogeneous takes it as another class"
            return Verdict.refuse(evidence.machine, reason)
        others = sorted({number for _, number in self.members.values()} - {FIRST_CLASS})
        alike = (each for each in others if _is_like(evidence, self._of_class(each)))
        number = next(alike, self._next_class())
        self.members[evidence.machine] = evidence, number
        return Verdict(evidence.machine, number, reason)

    def _next_class(self) -> int:
        return max((number for _, number in self.members.values()), default=FIRST_CLASS) + 1

    def _of_class(self, number: int) -> list[Evidence]:
        return [evidence for evidence, each in self.members.values() if each == number]


def differing(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """Return the first fact that differs, in words; empty if none does."""
    for name in (*expected, *(name for name in found if name not in expected)):
        theirs, its = expected.get(name, "unknown"), found.get(name, "unknown")
        if theirs != its:
            return f"its {name} is {excerpt(its)} and not {excerpt(theirs)}"
    return ""


def _describe_change(evidence: Evidence, before: Evidence) -> str:
    """Return what has changed since the machine got its class, in words; empty if nothing has."""
    when = "when it loaded blocks of this run; a run of its own takes it"
    if difference := differing(before.facts, evidence.facts):
        return f"{difference}, as {when}"
    if _distance(evidence, [before, evidence])[0] <= 1:
        return ""
    return _distance(evidence, [before], f"what it was {when}")[1]


def _describe_outlier(evidence: Evidence, others: Sequence[Evidence]) -> str:
    """Return why a machine's times do not fit those of others, in words; empty if they do."""
    excess, reason = _distance(evidence, [*others, evidence])
    return reason if excess > 1 else ""


def _is_like(evidence: Evidence, others: Sequence[Evidence]) -> bool:
    """Return whether a machine fits into the class of others."""
    return not (differing(others[0].facts, evidence.facts) or _describe_outlier(evidence, others))


def _distance(
    evidence: Evidence, fleet: Iterable[Evidence], whose: str = "the fleet's median"
) -> tuple[float, str]:
    """Return a machine's distance from the medians, in multiples of a bound and in words."""
    members = list(fleet)
    load_ms = statistics.median(each.typical_load_ms for each in members)
    processor_s = statistics.median(each.typical_processor_s for each in members)
    load = evidence.typical_load_ms / load_ms - 1
    processor = evidence.typical_processor_s / processor_s - 1
    by_bound = {
        f"its page load time is {load:+.1%} off {whose}": abs(load) / PAGE_LOAD_TIME_SHARE_MAX,
        f"its processor time is {processor:+.1%} off {whose}": abs(processor)
        / PROCESSOR_TIME_SHARE_MAX,
    }
    reason = max(by_bound, key=lambda phrase: by_bound[phrase])
    return by_bound[reason], reason


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


FAILURES_MIN, LOADS = 5, 20
RATE_RATIO_MIN = 4.0
"""A slot is retired after FAILURES_MIN failures in its last LOADS loads, if that is RATE_RATIO_MIN
times the rate of all other slots; if loads fail everywhere, the cause is elsewhere."""


LOSSES_IN_A_ROW, LOST_BLOCKS_MIN = 3, 2
"""The losses in a row after which a slot is retired, and the blocks that they must be spread over:
a single block may itself be the cause, and is given up after as many losses."""


def has_failed(trial: PackedTrial) -> bool:
    """Return whether the instrument failed in any attempt, even if a retry succeeded."""
    return trial.failed_attempts > 0 or OUTCOMES_BY_NAME[trial.outcome].fault == "instrument"


@dataclass
class _Counted:
    last: deque[bool] = field(default_factory=lambda: deque(maxlen=LOADS))
    loads: int = 0
    failures: int = 0


class SlotFailures:
    """The failures of one run by slot name, which stays the same when a slot's process restarts."""

    def __init__(self) -> None:
        self._slots: dict[str, _Counted] = defaultdict(_Counted)

    def add(self, slot: str, failed: Iterable[bool]) -> str:
        """Count a slot's loads in their order; return why the slot is to be retired, or "".

        It is "" until the other slots have LOADS loads: a rate of fewer is too uncertain.
        """
        counted = self._slots[slot]
        for each in failed:
            counted.last.append(each)
            counted.loads += 1
            counted.failures += each
        failures = sum(counted.last)
        others = [each for name, each in self._slots.items() if name != slot]
        loads = sum(each.loads for each in others)
        if failures < FAILURES_MIN or loads < LOADS:
            return ""
        rate = sum(each.failures for each in others) / loads
        if failures / len(counted.last) < RATE_RATIO_MIN * rate:
            return ""
        return (
            f"{failures} of its last {len(counted.last)} loads failed because of the "
            f"instrument, but {rate:.1%} of the other slots' {loads}"
        )


class SlotLosses:
    """The losses of one run by machine and slot number, which survive restarts of a slot's
    process."""

    def __init__(self) -> None:
        self._in_a_row: dict[tuple[str, int], list[int]] = defaultdict(list)

    def on_block_finished(self, machine: str, number: int) -> None:
        """Forget a slot's losses, since it finished a block."""
        self._in_a_row.pop((machine, number), None)

    def on_lost(self, machine: str, number: int, count: int, block: int) -> list[int]:
        """Record that a slot was lost with a block; return the numbers of slots to retire.

        These are all `count` slots of the machine if each was lost with its last block: then the
        machine is at fault, and one message covers them.
        """
        losses = self._in_a_row[machine, number]
        losses.append(block)
        if len(losses) < LOSSES_IN_A_ROW or len(set(losses)) < LOST_BLOCKS_MIN:
            return []
        every = list(range(1, count + 1))
        is_machine = all(self._in_a_row.get((machine, each)) for each in every)
        return every if is_machine else [number]
