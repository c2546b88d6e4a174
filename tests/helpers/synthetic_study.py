"""A study that may stop early, run by the real loop over loads that are made up."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_run import environment, metrics_of, record_of

from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import Site, Trial
from eyelevel.run.study import loop
from eyelevel.run.study.loop import RunResult, run_trials
from eyelevel.run.study.prepare import begin_study
from eyelevel.run.study.progress import Progress
from eyelevel.run.study.stopping import Budget, FactsSoFar, Stopping, TimeLimit
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import ENVIRONMENT_FILE, write_document

TEXT = """title = "When does it stop?"
sites = ["startup"]
networks = ["dsl", "lte"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 40
smallest_effect_of_interest = 0.05
[stop]
blocks_min = 6
"""
LOG_RATIO = {("dsl", "quic"): math.log(0.7), ("lte", "quic"): math.log(0.82)}
NOISE = {"dsl": 0.05, "lte": 0.08}

Outcomes = Mapping[tuple[str, str], str]  # by block and stack, else `ok`


class SyntheticStudy:
    """A study whose loads depend on their trials alone; `loaded` has those that were made, in
    order."""

    def __init__(self, text: str = TEXT, outcomes: Outcomes | None = None) -> None:
        self.plan: Plan = parse_plan(text, "plan.toml")
        self.sites = [Site(name, f"sha256:{name * 8:.64}") for name in self.plan.sites]
        self.outcomes = outcomes or {}
        self.loaded: list[Trial] = []

    def foreign(self, trial: Trial) -> float:
        """Return the share of the processors that others took during a load."""
        return 0.0

    def trials(self, directory: Path) -> list[Trial]:
        """Return all of the plan, which is written."""
        trials = begin_study(self.plan, self.sites, directory, resume=True)
        write_document(directory, ENVIRONMENT_FILE, environment())
        return trials

    def commit(self, trial: Trial, archive: str, directory: Path, *execution: Any) -> str:
        """Commit a load in place of `commit_trial`."""
        # Variants share a seed, and a real load has more chance than its own.
        seed = int(trial.hash, 16) if trial.variant else trial.seed
        draw = np.random.Generator(np.random.PCG64(seed))
        log_ratio = LOG_RATIO.get((trial.network, trial.stack), 0.0)
        load_ms = 1000 * math.exp(log_ratio + NOISE[trial.network] * draw.standard_normal())
        outcome = self.outcomes.get((trial.block, trial.stack), "ok")
        record = record_of(trial, load_ms, outcome)
        record["host"] = {**record["host"], "cpu_foreign_share": self.foreign(trial)}
        write_trial(directory, record)
        self.loaded.append(trial)
        return outcome

    def run(
        self,
        directory: Path,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        execution: loop.Execution = loop.ONE_BY_ONE,
        budget: Budget | None = None,
    ) -> RunResult:
        """Run the study to its end, or to that of its budget."""
        trials = self.trials(directory)
        archives = {trial.recording: "" for trial in trials}
        facts = FactsSoFar(directory, metrics_of)
        if self.plan.stop:
            rule = Stopping(self.plan, directory, facts, budget).ended
        else:
            assert budget is not None
            rule = TimeLimit(self.plan, directory, budget).ended
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "commit_trial", self.commit)
            return run_trials(trials, archives, directory, on_progress, rule, execution)

    def results(self, directory: Path) -> StudyResults:
        """Return the study's results."""
        return read_results(directory, metrics_of)
