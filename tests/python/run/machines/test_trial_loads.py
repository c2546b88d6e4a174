"""What a slot's trial loads show: each has one further try where the machine starved it."""

from itertools import count

import pytest
from sample_record import sample_record

from eyelevel.base.errors import LabError
from eyelevel.load.trial import TrialResult
from eyelevel.run.machines.evidence import TRIAL_LOADS, slot_loads


class Loads:
    """Made up: the load of each given number, from 1 on, ends with its outcome, others with `ok`;
    the first takes 1 ms, each next one more."""

    def __init__(self, outcomes):
        self.outcomes, self.numbers, self.trials = outcomes, count(1), []

    def __call__(self, trial, archive):
        number = next(self.numbers)
        self.trials.append(trial.hash)
        record = sample_record()
        record["outcome"] = self.outcomes.get(number, "ok")
        record["outcome_detail"] = "late packets"
        record["navigation"] = {**record["navigation"], "page_load_time_ms": float(number)}
        if record["outcome"] == "lab-failed":
            record["navigation"] = None
        record["browser"] = {**record["browser"], "cpu_s": 2.0}
        return TrialResult(record, [], [], {})


def test_a_load_that_was_starved_is_tried_once_more_and_counts_as_that():
    loads = Loads({2: "starved", 5: "lab-failed"})
    assert [load_ms for load_ms, _ in slot_loads(loads)] == [1.0, 3.0, 4.0, 6.0, 7.0]
    assert len(set(loads.trials)) == TRIAL_LOADS


@pytest.mark.parametrize("outcomes", [{2: "starved", 3: "starved"}, {1: "wrong-stack"}])
def test_one_that_fails_otherwise_or_again_is_told(outcomes):
    with pytest.raises(
        LabError, match=r"a trial load of dashboard was (starved|wrong-stack): late"
    ):
        slot_loads(Loads(outcomes))
