"""Which machines may load blocks of one run: those that are as the first one."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from eyelevel.from_outside.words import quoted
from eyelevel.json_types import JsonMapping

COMPARED_FROM = 3
"""Of two machines that differ nobody knows which is the odd one."""
PAGE_LOAD_TIME_SHARE_MAX = 0.05
"""Of the fleet's median: how far a machine's may be from it."""
PROCESSOR_TIME_SHARE_MAX = 0.15
FIRST_CLASS = 1


@dataclass(frozen=True)
class Evidence:
    """What a machine showed of itself.

    `facts`: by name, such as `kernel`, equal on machines of a class. `page_load_time_ms` and
    `processor_s`: of its trial loads on all slots at once. `problems`: a sentence each of what
    keeps it from loading at all. `environment`: what a report says of it.
    """

    machine: str
    """Its ID."""
    name: str
    slots: int
    facts: Mapping[str, str]
    page_load_time_ms: Sequence[float]
    processor_s: Sequence[float]
    problems: Sequence[str] = ()
    environment: JsonMapping = field(default_factory=dict)

    @property
    def typical_load_ms(self) -> float:
        """The median page load time."""
        return statistics.median(self.page_load_time_ms)

    @property
    def typical_processor_s(self) -> float:
        """The median processor time of a load."""
        return statistics.median(self.processor_s)


class MachineDescription(NamedTuple):
    """What a machine answers when it is asked what it is: `facts`, `problems` and `environment` as
    Evidence has them."""

    facts: dict[str, str]
    problems: tuple[str, ...] = ()
    environment: JsonMapping = MappingProxyType({})


@dataclass(frozen=True)
class Verdict:
    """Of one machine: the class of its loads, and why it is not of the first, or takes no blocks,
    in one line. Without a class it has no loads."""

    machine: str
    machine_class: int | None
    reason: str = ""
    is_admitted: bool = True

    @classmethod
    def refused(cls, machine: str, reason: str, machine_class: int | None = None) -> "Verdict":
        """It takes no blocks."""
        return cls(machine, machine_class, reason, is_admitted=False)


@dataclass
class Fleet:
    """The machines of a run so far. `allow_heterogeneous`: those that differ form further classes.

    A class is of loads: what a machine has loaded stays in the class that it was loaded in, beside
    what the machine showed then, and a machine that is not so any more is refused. One thing alone
    changes a class: when the third of the first class joins, all three are compared.
    """

    allow_heterogeneous: bool = False
    members: dict[str, tuple[Evidence, int]] = field(default_factory=dict)
    """Those with loads by ID, with their class; a resumed run begins with those of before."""
    _refused: dict[str, Evidence] = field(default_factory=dict, init=False)
    """Those that differ and have no loads."""

    def admit(self, evidence: Evidence) -> list[Verdict]:
        """What becomes of a machine that joins, last; of others, too, when it is the third."""
        self._refused.pop(evidence.machine, None)
        if evidence.machine in self.members:
            return [self._again(evidence)]
        if evidence.problems:
            return [Verdict.refused(evidence.machine, evidence.problems[0])]
        first = self._of_class(FIRST_CLASS)
        reason = self._unlike_first(evidence)
        if not reason and len(first) >= COMPARED_FROM:
            reason = _off_medians(evidence, first)
        if reason:
            return [self._apart(evidence, reason)]
        self.members[evidence.machine] = evidence, FIRST_CLASS
        odd = self._odd_ones() if len(first) + 1 == COMPARED_FROM else {}
        # Who brings a verdict on others comes last: kept in this order, no class is left unjudged.
        verdicts = [
            self._put_out(each, why) for each, why in odd.items() if each != evidence.machine
        ]
        if evidence.machine in odd:
            del self.members[evidence.machine]
            return [*verdicts, self._apart(evidence, odd[evidence.machine])]
        return [*verdicts, Verdict(evidence.machine, FIRST_CLASS)]

    def alike(self, machine: str) -> int:
        """Return how many were refused that have this one's facts, itself among them; 0 if it was
        not."""
        its = self._refused.get(machine)
        return sum(its is not None and not differing(its.facts, each.facts) for each in
                   self._refused.values())  # fmt: skip

    def first(self) -> str:
        """The name of the machine whose facts others are held against; empty without any."""
        return next((each.name for each in self._of_class(FIRST_CLASS)), "")

    def _again(self, evidence: Evidence) -> Verdict:
        """Of one that has loads: they would be of two machines by one name if it had changed."""
        before, number = self.members[evidence.machine]
        reason = evidence.problems[0] if evidence.problems else ""
        if not reason:
            reason = _changed(evidence, before)
        is_measured = evidence.page_load_time_ms != before.page_load_time_ms
        others = [each for each in self._of_class(number) if each.machine != before.machine]
        if not reason and is_measured and len(others) + 1 >= COMPARED_FROM:
            reason = _off_medians(evidence, others)
        if not reason and number != FIRST_CLASS:
            reason = f"it is of class {number}, as it was before"
            if self.allow_heterogeneous:
                return Verdict(evidence.machine, number, reason)
            reason += "; --allow-heterogeneous takes it"
        if reason:
            return Verdict.refused(evidence.machine, reason, number)
        return Verdict(evidence.machine, number)

    def _unlike_first(self, evidence: Evidence) -> str:
        first = self._of_class(FIRST_CLASS)
        difference = differing(first[0].facts, evidence.facts) if first else ""
        return f"{difference}, unlike {first[0].name}" if difference else ""

    def _odd_ones(self) -> dict[str, str]:
        """Of the first class those that are too far from its medians, and why: the farthest first,
        since it moves the medians. Of two that are left and differ the one in the middle of all
        stays: nobody knows whether it is the usual one, but its loads are of one kind."""
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

    def _put_out(self, machine: str, reason: str) -> Verdict:
        """Its loads are a class of their own from now on."""
        evidence, _ = self.members.pop(machine)
        if self.allow_heterogeneous:
            return self._apart(evidence, reason)
        number = self._next_class()
        self.members[machine] = evidence, number
        return Verdict.refused(
            machine, f"{reason}; --allow-heterogeneous takes it as another class", number
        )

    def _apart(self, evidence: Evidence, reason: str) -> Verdict:
        if not self.allow_heterogeneous:
            self._refused[evidence.machine] = evidence
            reason = f"{reason}; --allow-heterogeneous takes it as another class"
            return Verdict.refused(evidence.machine, reason)
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
    """The first fact that differs, in words; empty if none does."""
    for name in (*expected, *(name for name in found if name not in expected)):
        theirs, its = expected.get(name, "unknown"), found.get(name, "unknown")
        if theirs != its:
            return f"its {name} is {quoted(its)} and not {quoted(theirs)}"
    return ""


def _changed(evidence: Evidence, before: Evidence) -> str:
    """What is not as it was when it was given its class; empty if all is."""
    when = "when it loaded blocks of this run; a run of its own takes it"
    if difference := differing(before.facts, evidence.facts):
        return f"{difference}, as {when}"
    if _distance(evidence, [before, evidence])[0] <= 1:
        return ""
    return _distance(evidence, [before], f"what it was {when}")[1]


def _off_medians(evidence: Evidence, others: Sequence[Evidence]) -> str:
    """Why it cannot be one of these, whose times are known; empty if it can."""
    excess, reason = _distance(evidence, [*others, evidence])
    return reason if excess > 1 else ""


def _is_like(evidence: Evidence, others: Sequence[Evidence]) -> bool:
    """Return whether it may be of the class of these."""
    return not (differing(others[0].facts, evidence.facts) or _off_medians(evidence, others))


def _distance(
    evidence: Evidence, fleet: Iterable[Evidence], whose: str = "the fleet's median"
) -> tuple[float, str]:
    """Return how far it is from the fleet's medians, in bounds, and that in words."""
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
    reason = max(by_bound, key=lambda said: by_bound[said])
    return by_bound[reason], reason
