"""A study's turns: whose loads they are."""

from eyelevel.networks.presets import UNSHAPED, find_network
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.run.live.comparison import LIVE_SIDE, REPLAY_SIDE, SIDES
from eyelevel.run.live.load import LivePage
from eyelevel.run.live.study import LiveStudy, turns
from eyelevel.sites.recorded import open_site


def study(url: str, browser: Browser | None = None) -> LiveStudy:
    network, stack = find_network(UNSHAPED), STACKS_BY_NAME["tcp+"]
    return LiveStudy(LivePage(url), open_site("plain"), network, stack, 4, 1, browser or Browser())


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
