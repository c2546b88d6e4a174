"""A study's turns: whose loads they are."""

from dataclasses import replace

import pytest

from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import UNSHAPED, find_network
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import ConnectionTypeSetting, Stack
from eyelevel.run.live.comparison import LIVE_SIDE, REPLAY_SIDE, SIDES
from eyelevel.run.live.load import LivePage
from eyelevel.run.live.study import LiveStudy, turns
from eyelevel.sites.recorded import open_site

STACK = STACKS_BY_NAME["tcp+"]


def study(
    url: str, network: Network | None = None, browser: Browser | None = None, stack: Stack = STACK
) -> LiveStudy:
    network, browser = network or find_network(UNSHAPED), browser or Browser()
    return LiveStudy(LivePage(url), open_site("plain"), network, stack, 4, 1, browser)


def hashes(url: str, side: str) -> set[str]:
    return {turn.trial.hash for turn in turns(study(url)) if turn.side == side}


def test_no_live_load_of_one_page_is_another_ones() -> None:
    one, other = "https://a.example/", "https://a.example/other"
    assert len(hashes(one, LIVE_SIDE)) == 4
    assert not hashes(one, LIVE_SIDE) & hashes(other, LIVE_SIDE)
    assert hashes(one, LIVE_SIDE) == hashes(one, LIVE_SIDE)
    # Whose replays these are the recording says, and a study has none of another page.
    assert len(hashes(one, REPLAY_SIDE)) == 4


def test_both_sides_have_one_name_and_time_limit() -> None:
    made = turns(study("https://a.example/"))
    assert {turn.side for turn in made} == set(SIDES)
    assert len({(turn.trial.site, turn.trial.browser.limit_s) for turn in made}) == 1


@pytest.mark.parametrize(
    ("rtt_ms", "given", "stacks", "taken_for"),
    [
        (0.0, "network", None, "4g"),
        (600.0, "network", None, "3g"),
        (600.0, "2g", None, "2g"),
        (600.0, "2g", "network", "3g"),
        (600.0, "network", "measured", "measured"),
    ],
)
def test_both_sides_browsers_take_the_network_for_the_same(
    rtt_ms: float,
    given: ConnectionTypeSetting,
    stacks: ConnectionTypeSetting | None,
    taken_for: str,
) -> None:
    network = replace(find_network(UNSHAPED), name="far", rtt_ms_min=rtt_ms)
    stack = replace(STACK, effective_connection_type=stacks)
    asked = Browser(effective_connection_type=given)
    made = turns(study("https://a.example/", network, asked, stack))
    types = {(turn.side, turn.trial.browser.effective_connection_type) for turn in made}
    assert types == {(side, taken_for) for side in SIDES}
