"""Live trials: nothing emulated, one a block, and a page's own place among sites."""

import pytest

from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.run.live.trials import LIVE, live_site, live_trials


def trials(url: str, runs: int = 3, seed: int = 1) -> list[str]:
    made = live_trials(live_site(url), STACKS_BY_NAME["tcp+"], runs, seed, Browser())
    assert {trial.network for trial in made} == {"live"}
    return [trial.hash for trial in made]


def test_its_network_has_no_stage() -> None:
    assert lab_path(LIVE) == {"down": [], "up": []}
    assert LIVE.refusal() == ""


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Browser(), "measured"),
        (Browser(effective_connection_type="3g"), "3g"),
        (Browser(browser="firefox"), "measured"),
    ],
)
def test_nobody_knows_the_networks_round_trip_before(asked: Browser, told: str) -> None:
    site, stack = live_site("https://a.example/"), STACKS_BY_NAME["tcp+"]
    (trial,) = live_trials(site, stack, 1, 1, asked)
    assert trial.browser.effective_connection_type == told


def test_a_page_is_told_from_others_by_its_whole_url() -> None:
    first = trials("https://a.example/one")
    assert len(set(first)) == 3
    assert first == trials("https://a.example/one")
    assert not set(first) & set(trials("https://a.example/two"))
    assert live_site("https://a.example/one").name == "a.example"
