import json
from dataclasses import asdict

import pytest
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.run_files import read_stored_plan
from eyelevel.analysis.study import read_results
from eyelevel.base.errors import PlanError
from eyelevel.store.directory import PLAN_FILE, read_document

OPTIONAL = {"stop", "weights", "causes", "smallest_effect_reason"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("study") / "run"
    plan = write_run(directory)
    return directory, read_document(directory, PLAN_FILE), plan


def test_a_plan_that_this_eyelevel_has_written_is_read_as_it_is(run):
    directory, document, plan = run
    stored = read_stored_plan(directory)
    assert (stored.plan, stored.hash) == (plan, document["hash"])
    assert [asdict(trial) for trial in stored.trials] == document["trials"]
    assert [asdict(recording) for recording in stored.recordings] == document["sites"]


def test_a_plan_that_lacks_something_or_has_another_thing_in_its_place_is_refused(run, tmp_path):
    _, document, _ = run
    others = [{}, *(document | {key: ["x"]} for key in document)]
    others += [
        {name: value for name, value in document.items() if name != key}
        for key in document.keys() - OPTIONAL
    ]
    others += [
        document | {key: "x"} for key in ("comparisons", "primary_metric", "browser", "trials")
    ]
    for other in others:
        (tmp_path / PLAN_FILE).write_text(json.dumps(other))
        with pytest.raises(PlanError, match=r"plan\.json"):
            read_stored_plan(tmp_path)


def test_a_report_of_another_eyelevels_plan_says_so(run):
    directory, document, _ = run
    (directory / PLAN_FILE).write_text(json.dumps({**document, "version": 2}))
    with pytest.raises(PlanError, match="version 2"):
        read_results(directory, metrics_of)
