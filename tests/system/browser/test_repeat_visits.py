"""A second visit with warm tickets, by the command: what it resumes, what its requests wait for."""

from pathlib import Path
from typing import Any

import pytest
from loads import load

NETWORK, RTT_MS = "das-25-300", 300.0

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("labs")]


def round_trips(trial: dict[str, Any]) -> int:
    """Before the page's first response; the browser may connect a moment before its clock starts,
    and a busy machine adds far less than one."""
    page = next(each for each in trial["objects"] if each["resource_type"] == "Document")
    return round(page["response_ms"] / RTT_MS)


@pytest.mark.parametrize(
    ("stack", "expected"), [("tcp+", 3), ("tcp+0rtt", 2), ("quic", 2), ("quic+0rtt", 1)]
)
def test_a_repeat_visit_resumes_and_asks_as_early_as_its_stack_allows(
    stack: str, expected: int, small_site: Path
) -> None:
    options = ("--network", NETWORK, "--stack", stack, "--visit", "repeat")
    trial = load(str(small_site), *options)
    assert round_trips(trial) == expected
    # The browser may open more connections to a host than it has tickets (they serve once), so
    # not every one resumes; the page's own does.
    number = trial["requests"][0]["connection"]
    (own,) = [c["in_force"] for c in trial["connections"] if c["connection"] == number]
    assert own["resumed"] is True
    assert own["early_data_accepted"] is (True if stack.endswith("0rtt") else None)
    # The measured load alone is in the record: every request once, nothing from the cache.
    assert len(trial["requests"]) == len({each["url"] for each in trial["requests"]})
    assert {each["from"] for each in trial["objects"]} == {"network"}
