"""A recording that was changed during a run ends it: no load is recorded under the wrong digest."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from eyelevel.base.errors import InputChangedError
from eyelevel.load import trial as trials
from eyelevel.plan.networks.presets import find_network
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import Site, expand
from eyelevel.run.block.attempts import commit_trial


def test_a_lab_that_serves_another_recording_ends_the_run(tmp_path, monkeypatch):
    plan = one_cell("a", [find_network("dsl")], STACKS_BY_NAME["tcp+"], 1, 1)
    (planned,) = expand(plan, [Site("a", "sha256:planned")])
    served = ["sha256:other", None, "sha256:planned"]

    @contextmanager
    def served_lab(*given, **options):
        yield SimpleNamespace(ready=SimpleNamespace(site_digest=served[0]))

    class ServedError(Exception):
        """It was taken for the plan's own."""

    def settles(trial):
        raise ServedError

    monkeypatch.setattr(trials, "start_served_lab", served_lab)
    monkeypatch.setattr(trials, "_let_settle", settles)
    for _ in range(2):
        said = (
            rf"a\.wacz has changed .*its digest is {served[0]}, the plan's sha256:planned\); rest"
        )
        with pytest.raises(InputChangedError, match=said):
            commit_trial(planned, "a.wacz", tmp_path, {}, 3)
        served.pop(0)
    with pytest.raises(ServedError):
        commit_trial(planned, "a.wacz", tmp_path, {}, 3)
    assert not list(tmp_path.iterdir())
