"""The visit before a known visitor's load: a host that stays unknown is told."""

from typing import Any

import pytest

from eyelevel.browser.chromium.devtools import DevTools
from eyelevel.browser.chromium.first_visit import FirstVisit
from eyelevel.browser.observations import LoadSettings
from eyelevel.plan.browser import Browser

URL = "https://coalesced.example/a.png"


class Scripted(DevTools):
    """Answers every call, a resource with what it was given."""

    def __init__(self, resource: dict[str, Any]) -> None:
        self.resource = resource
        self.asked: list[str] = []

    def call(
        self, method: str, parameters: Any, session_id: str, deadline: float
    ) -> dict[str, Any]:
        self.asked.append(method)
        answers = {
            "Network.loadNetworkResource": {"resource": self.resource},
            "Runtime.evaluate": {"result": {"value": True}},
            "Target.createTarget": {"targetId": "sockets"},
            "Target.attachToTarget": {"sessionId": "session"},
        }
        return answers.get(method, {})


class Visit(FirstVisit):
    def _find_unreached(self) -> list[str]:
        return [URL]


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ({"success": True, "httpStatusCode": 200}, ""),
        # Whoever answers is known.
        ({"success": False, "httpStatusCode": 404}, ""),
        (
            {"success": False, "netErrorName": "net::ERR_CONNECTION_RESET"},
            f"{URL} had no answer: net::ERR_CONNECTION_RESET",
        ),
    ],
)
def test_a_host_that_does_not_answer_is_told(resource: dict[str, Any], said: str) -> None:
    devtools = Scripted(resource)
    settings = LoadSettings(URL, browser=Browser(timeout_s=1.0))
    visit = Visit(devtools, settings, "context", lambda devtools, session: None)
    assert visit._reach_all("target", "page") == said
    assert devtools.asked.count("Network.loadNetworkResource") == 1
