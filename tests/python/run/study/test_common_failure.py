"""A run whose loads all fail alike ends early; one load that does not lets it go on."""

from types import SimpleNamespace
from typing import Any

import pytest
from fault_runs import stub_result

from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, Trial, expand
from eyelevel.run.block import attempts
from eyelevel.run.study.loop import LOADS_MIN, CommonFailure, Execution, run_trials


def trials(sites: str, blocks: int = 3) -> list[Trial]:
    names = ", ".join(f'"{name}.wacz"' for name in sites)
    text = f"""sites = [{names}]
networks = ["dsl"]
stacks = ["tcp", "tcp+"]
reference = "tcp"
blocks = {blocks}
"""
    plan = parse_plan(text, "plan.toml")
    return expand(plan, [Site(name, f"sha256:{name * 64}") for name in sites])


def taken(sites: str, outcomes: list[tuple[str, str]], stacks: int = 1, blocks: int = 12) -> Any:
    """Return what each load's outcome amounts to, of a site's blocks of so many loads."""
    common = CommonFailure(
        [
            SimpleNamespace(site=site, block=f"{site}/{block}")
            for site in sites
            for block in range(blocks)
            for _ in range(stacks)
        ]
    )
    found, done = [], dict.fromkeys(sites, 0)
    for number, (site, outcome) in enumerate(outcomes):
        block = f"{site}/{done[site] // stacks}"
        load = SimpleNamespace(site=site, hash=str(number), block=block)
        done[site] += 1
        found.append(common.take(load, outcome))
    return found


def test_the_only_site_needs_a_few_loads() -> None:
    found = taken("a", [("a", "browser-crashed")] * LOADS_MIN)
    assert found[:-1] == [None] * (LOADS_MIN - 1)
    assert (found[-1].outcome, found[-1].loads, found[-1].sites) == ("browser-crashed", 4, ("a",))
    assert found[-1].trial == "3"


def test_of_several_sites_two_must_fail() -> None:
    crashed = [(site, "browser-crashed") for site in "aaaaab"]
    found = taken("abc", crashed)
    assert found[:-1] == [None] * 5
    assert found[-1].sites == ("a", "b")


@pytest.mark.parametrize("stacks", [2, 3, 5])
def test_every_load_of_both_sites_first_blocks_must_fail(stacks: int) -> None:
    crashed = [(site, "browser-crashed") for site in "ab" for _ in range(stacks)]
    found = taken("abc", crashed, stacks)
    assert found[:-1] == [None] * (2 * stacks - 1)
    assert (found[-1].loads, found[-1].sites) == (2 * stacks, ("a", "b"))
    for place in range(2 * stacks):
        outcomes = list(crashed)
        outcomes[place] = (crashed[place][0], "ok")
        assert not any(taken("abc", outcomes + crashed, stacks)), place


def test_the_only_sites_block_is_waited_for() -> None:
    found = taken("a", [("a", "browser-crashed")] * 6, stacks=6)
    assert found[:-1] == [None] * 5 and found[-1].loads == 6
    found = taken("a", [("a", "browser-crashed")] * 5 + [("a", "ok")], stacks=6)
    assert not any(found)


@pytest.mark.parametrize("other", ["ok", "timeout", "lab-failed", "starved"])
@pytest.mark.parametrize("place", [0, 3])
def test_a_load_that_ends_otherwise_lets_the_run_go_on(other: str, place: int) -> None:
    outcomes = ["browser-crashed"] * 10
    outcomes[place] = other
    assert not any(taken("a", [("a", each) for each in outcomes]))


@pytest.mark.parametrize("outcome", ["ok", "timeout", "starved", "late-packets"])
def test_results_and_a_busy_machine_stop_nothing(outcome: str) -> None:
    assert not any(taken("a", [("a", outcome)] * 10))


def test_a_run_of_fewer_loads_fails_with_its_last() -> None:
    found = taken("a", [("a", "missed-requests")] * 2, blocks=2)
    assert found[0] is None and found[1].loads == 2


@pytest.mark.parametrize(("failing", "loaded"), [(100, 4), (3, 6)])
def test_the_run_ends_with_the_block_in_which_it_is_known(
    failing: int, loaded: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def load(trial: Trial, *_: Any, **__: Any) -> Any:
        seen.append(trial.hash)
        result = stub_result(trial)
        if len(seen) <= failing:
            result.record["outcome"] = "browser-crashed"
            result.record["outcome_detail"] = "signal 11"
        return result

    monkeypatch.setattr(attempts, "run_trial", load)
    planned = trials("a")
    archives = {"a": "site.wacz"}
    result = run_trials(planned, archives, tmp_path, lambda _: None, execution=Execution(retries=0))
    assert len(seen) == result.done == loaded
    assert (result.failure is not None) == (failing > 3)
    assert not result.interrupted
