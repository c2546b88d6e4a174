"""What no live load can have is refused before any, alone and beside replays."""

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.cli.load.live import check_live
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME

URL = "https://a.example/"


@pytest.mark.parametrize(
    ("settings", "stack", "told"),
    [
        (Browser(visit="repeat"), "tcp+", "--visit, --visitor: a live load"),
        (Browser(visit="warm"), "quic", "--visit, --visitor: a live load"),
        (Browser(visitor="known"), "tcp+", "--visit, --visitor: a live load"),
        (Browser(visit="repeat"), "quic+0rtt", "--visit, --visitor: a live load"),
        (Browser(), "quic+0rtt", "--stack `quic.0rtt`: early data"),
        (Browser(logs=("qlog",)), "tcp+", "--logs: the connections of a live load"),
    ],
)
def test_a_load_that_cannot_be_live_is_refused(settings: Browser, stack: str, told: str) -> None:
    with pytest.raises(PlanError, match=told):
        check_live(URL, STACKS_BY_NAME[stack], settings)


@pytest.mark.parametrize("stack", ["tcp", "tcp+", "quic"])
def test_a_first_visit_may_be_live(stack: str) -> None:
    check_live(URL, STACKS_BY_NAME[stack], Browser(netlog=True, trace=True))
