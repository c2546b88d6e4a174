"""Recognises a run whose loads all fail alike for a reason of the instrument: pure.

A broken browser or a server without an answer fails every load in the same way, and the hours that
the rest would take tell nothing more. A busy machine is no such reason: it may be quiet again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.plan.trials import Trial
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

SITES = 2
"""One page alone may be at fault where a run has several."""
LOADS_MIN = 4
"""Of a run of one site; fewer may fail by chance."""
PASSING = ("starved", "late-packets")
"""Outcomes of the instrument that end by themselves."""


@dataclass(frozen=True)
class Failure:
    """What all loads of a run have in common: their outcome, and one of them."""

    outcome: str
    loads: int
    sites: tuple[str, ...]
    trial: str
    """The hash of the last one."""


class CommonFailure:
    """Outcomes of a run's loads from its first on, until one differs."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        """`trials`: those that the run is to load."""
        self._sites_min = min(SITES, len({trial.site for trial in trials}))
        self._loads_min = min(LOADS_MIN, len(trials))
        self._seen: dict[str, int] = {}
        self._outcome = ""
        self._is_over = False

    def take(self, trial: Trial, outcome: str) -> Failure | None:
        """Take a load's outcome; return the common failure once enough loads of enough sites ended
        with it and none without."""
        if self._is_over:
            return None
        known = OUTCOMES_BY_NAME[outcome]
        self._outcome = self._outcome or outcome
        if known.fault != "instrument" or outcome in PASSING or outcome != self._outcome:
            self._is_over = True
            return None
        self._seen[trial.site] = self._seen.get(trial.site, 0) + 1
        loads = sum(self._seen.values())
        if loads < self._loads_min or len(self._seen) < self._sites_min:
            return None
        return Failure(outcome, loads, tuple(self._seen), trial.hash)
