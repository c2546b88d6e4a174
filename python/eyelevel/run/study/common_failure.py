"""Recognise a run whose loads all fail alike for a reason of the instrument: pure.

A broken browser or a server that does not respond fails every load in the same way, and hours of
further loads would show nothing more. A busy machine is no such reason: it may become idle again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.plan.trials import Trial
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

SITES = 2
"""The fewest sites, if a run has several: a single page may itself be at fault."""
LOADS_MIN = 4
"""The fewest loads of a one-site run that count as a common failure; fewer may fail by chance."""
PASSING = ("starved", "late-packets")
"""The instrument's outcomes that may end by themselves."""


@dataclass(frozen=True)
class Failure:
    """The common failure of all loads of a run: their outcome, and one of them as an example."""

    outcome: str
    loads: int
    sites: tuple[str, ...]
    trial: str
    """The hash of the last failed trial."""


class CommonFailure:
    """The outcomes of a run's loads from the first on, until one differs."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        """`trials`: those that the run is to load."""
        self._sites_min = min(SITES, len({trial.site for trial in trials}))
        self._loads_min = min(LOADS_MIN, len(trials))
        self._left = Counter(trial.block for trial in trials)
        self._seen: dict[str, None] = {}
        self._whole: set[str] = set()
        self._loads = 0
        self._outcome = ""
        self._is_over = False

    def take(self, trial: Trial, outcome: str) -> Failure | None:
        """Take a load's outcome, and return the common failure if there is one.

        It takes enough loads with the same outcome, none with another, and a complete block of
        enough sites. A block has a load of each stack: a failure of some stacks only, such as a
        server that one of them cannot reach, does not end a run.
        """
        if self._is_over:
            return None
        known = OUTCOMES_BY_NAME[outcome]
        self._outcome = self._outcome or outcome
        if known.fault != "instrument" or outcome in PASSING or outcome != self._outcome:
            self._is_over = True
            return None
        self._loads += 1
        self._seen[trial.site] = None
        self._left[trial.block] -= 1
        if not self._left[trial.block]:
            self._whole.add(trial.site)
        if self._loads < self._loads_min or len(self._whole) < self._sites_min:
            return None
        return Failure(outcome, self._loads, tuple(self._seen), trial.hash)
