"""Which slots take no further block: those whose loads fail far more often than the fleet's."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from eyelevel.store.outcomes import OUTCOMES_BY_NAME
from eyelevel.store.packed import PackedTrial

FAILURES_MIN, LOADS = 5, 20
RATE_RATIO_MIN = 4.0
"""A slot is retired with this many failures in its last so many loads, if that is so many times the
rate of all other slots; a run whose loads fail everywhere has another trouble."""


def has_failed(trial: PackedTrial) -> bool:
    """Whether the instrument failed, be it in an attempt that a further one mended."""
    return trial.failed_attempts > 0 or OUTCOMES_BY_NAME[trial.outcome].fault == "instrument"


@dataclass
class _Counted:
    last: deque[bool] = field(default_factory=lambda: deque(maxlen=LOADS))
    loads: int = 0
    failures: int = 0


class SlotFailures:
    """Of one run, by slots' names, which stay when their processes begin again."""

    def __init__(self) -> None:
        self._slots: dict[str, _Counted] = defaultdict(_Counted)

    def add(self, slot: str, failed: Iterable[bool]) -> str:
        """Loads that ended on a slot, in their order; why it is to be retired, else nothing.

        Nothing, too, before the other slots have LOADS loads: a rate of fewer says little.
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
            f"{failures} of its last {len(counted.last)} loads failed by the instrument's fault, "
            f"{rate:.1%} of the other slots' {loads}"
        )
