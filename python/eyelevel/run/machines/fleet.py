"""Which machines may load blocks of one run: those that are as the first one."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eyelevel.from_outside.words import quoted

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
    keeps it from loading at all.
    """

    machine: str
    """Its ID."""
    name: str
    slots: int
    facts: Mapping[str, str]
    page_load_time_ms: Sequence[float]
    processor_s: Sequence[float]
    problems: Sequence[str] = ()

    @property
    def typical_load_ms(self) -> float:
        """The median page load time."""
        return statistics.median(self.page_load_time_ms)

    @property
    def typical_processor_s(self) -> float:
        """The median processor time of a load."""
        return statistics.median(self.processor_s)


@dataclass(frozen=True)
class Verdict:
    """Of one machine: the class of its loads, and why it is not of the first, or takes no blocks,
    in one line. Without a class what it had loaded is a class of its own."""

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
    """The machines of a run so far. `mixed`: those that differ are classes of their own."""

    mixed: bool = False
    members: dict[str, tuple[Evidence, int]] = field(default_factory=dict)
    """By ID, with their class; a resumed run begins with those of before."""

    def admit(self, evidence: Evidence) -> list[Verdict]:
        """What becomes of a machine that joins; of others, too, when it is the third."""
        before, of_loads = self.members.get(evidence.machine, (None, None))
        if evidence.problems:
            return [Verdict.refused(evidence.machine, evidence.problems[0], of_loads)]
        if before and of_loads:
            # Its loads would be of two machines by one name.
            if changed := differing(before.facts, evidence.facts):
                reason = f"{changed}, as when it loaded blocks of this run"
                return [Verdict.refused(evidence.machine, reason, of_loads)]
            if of_loads != FIRST_CLASS:
                return [self._of_another_class(evidence, of_loads)]
        first = self._of_class(FIRST_CLASS)
        difference = differing(first[0].facts, evidence.facts) if first else ""
        if difference:
            return [self._apart(evidence, f"{difference}, unlike {first[0].name}")]
        self.members[evidence.machine] = evidence, FIRST_CLASS
        verdicts = [Verdict(evidence.machine, FIRST_CLASS)]
        odd = self._odd_ones()
        return [each for each in verdicts if each.machine not in {o.machine for o in odd}] + odd

    def _of_another_class(self, evidence: Evidence, number: int) -> Verdict:
        reason = f"it is of class {number}, as it was before"
        if not self.mixed:
            reason += "; --mixed takes it"
            return Verdict.refused(evidence.machine, reason, number)
        self.members[evidence.machine] = evidence, number
        return Verdict(evidence.machine, number, reason)

    def _odd_ones(self) -> list[Verdict]:
        """Those of the first class that are too far from its medians are no part of it any more:
        the farthest first, since it moves the medians."""
        found = []
        while len(first := self._of_class(FIRST_CLASS)) >= COMPARED_FROM:
            distances = {each.machine: _distance(each, first) for each in first}
            worst = max(first, key=lambda each: distances[each.machine][0])
            excess, reason = distances[worst.machine]
            if excess <= 1:
                break
            del self.members[worst.machine]
            found.append(self._apart(worst, reason))
        return found

    def _apart(self, evidence: Evidence, reason: str) -> Verdict:
        if not self.mixed:
            reason = f"{reason}; --mixed takes it as another class"
            return Verdict.refused(evidence.machine, reason)
        others = sorted({number for _, number in self.members.values()} - {FIRST_CLASS})
        alike = (each for each in others if _is_like(evidence, self._of_class(each)))
        number = next(alike, max(others, default=FIRST_CLASS) + 1)
        self.members[evidence.machine] = evidence, number
        return Verdict(evidence.machine, number, reason)

    def _of_class(self, number: int) -> list[Evidence]:
        return [evidence for evidence, each in self.members.values() if each == number]


def differing(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """The first fact that differs, in words; empty if none does."""
    for name in (*expected, *(name for name in found if name not in expected)):
        theirs, its = expected.get(name, "unknown"), found.get(name, "unknown")
        if theirs != its:
            return f"its {name} is {quoted(its)} and not {quoted(theirs)}"
    return ""


def _is_like(evidence: Evidence, others: Sequence[Evidence]) -> bool:
    """Whether it may be of the class of these."""
    if differing(others[0].facts, evidence.facts):
        return False
    return _distance(evidence, [*others, evidence])[0] <= 1


def _distance(evidence: Evidence, fleet: Iterable[Evidence]) -> tuple[float, str]:
    """How far it is from the fleet's medians, in bounds, and that in words."""
    members = list(fleet)
    load_ms = statistics.median(each.typical_load_ms for each in members)
    processor_s = statistics.median(each.typical_processor_s for each in members)
    load = evidence.typical_load_ms / load_ms - 1
    processor = evidence.typical_processor_s / processor_s - 1
    by_bound = {
        f"its page load time is {load:+.1%} off the fleet's median": abs(load)
        / PAGE_LOAD_TIME_SHARE_MAX,
        f"its processor time is {processor:+.1%} off the fleet's median": abs(processor)
        / PROCESSOR_TIME_SHARE_MAX,
    }
    reason = max(by_bound, key=lambda said: by_bound[said])
    return by_bound[reason], reason
