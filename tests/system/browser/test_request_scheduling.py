"""Which requests Chromium holds back, from its network log: counts, and no times.

The page that `eyelevel validate level` makes, of 60 images on one host. Chromium holds requests of
low priority back, six a host, where it does not know that the host heeds priorities.
"""

from pathlib import Path
from typing import Any

import pytest
from loads import GOOD

from eyelevel.browser.chromium.request_scheduling import (
    DELAYABLE,
    Scheduling,
    read_network_log,
    request_scheduling,
)
from eyelevel.calibration.level.generated_page import IMAGES
from eyelevel.calibration.measuring.runs import IMAGES_HOST, ImagesHost, write_generated_page
from eyelevel.load.trial import run_trial
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import expand
from eyelevel.run.block.attempts import RETRIED, RETRIES_MAX
from eyelevel.sites.recorded import open_site

HELD_MIN = 30
"""Of 60 images; the first few are let go, and some are asked for again with the style sheets."""
SLOW_IN_FLIGHT_MAX = 8
"""Chromium's limit of low-priority requests on a network below 4g, over every protocol."""

pytestmark = pytest.mark.usefixtures("labs")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("level")
    kinds: tuple[ImagesHost, ...] = ("page", "own", "coalesced")
    return {kind: write_generated_page(folder / f"{kind}.wacz", kind) for kind in kinds}


def load(page: Path, stack: str, more: str = "") -> tuple[Scheduling, dict[str, Any]]:
    """One load of the page; `stack` as a plan writes it."""
    text = (
        f'sites = ["{page}"]\nnetworks = ["dsl"]\nstacks = [{stack}]\nblocks = 1\n'
        f"reference = {stack if stack[0] != '{' else chr(34) + 'changed' + chr(34)}\n"
        f"capture = false\nnetlog = true\n{more}"
    )
    recorded = open_site(str(page))
    (trial,) = expand(parse_plan(text, "plan.toml"), [recorded.of_plan()])
    for _ in range(1 + RETRIES_MAX):
        result = run_trial(trial, str(page))
        if result.record["outcome"] not in RETRIED:
            break
    record = result.record
    assert record["outcome"] in GOOD, record["outcome_detail"]
    since_ms = record["browser"]["navigation_start_ns"] / 1e6 - 1
    urls = {each["url"] for each in record["objects"]}
    log = read_network_log(result.logs["netlog.json.gz"])
    return request_scheduling(log, urls, since_ms), record | {"raised": raised(log)}


def raised(log: dict[str, Any]) -> set[str]:
    """URLs of the requests that got another priority after they had begun."""
    types = {number: name for name, number in log["constants"]["logEventTypes"].items()}
    urls, changed = {}, set()
    for event in log["events"]:
        source = event["source"]["id"]
        if url := event.get("params", {}).get("url"):
            urls.setdefault(source, url)
        if types.get(event["type"]) == "URL_REQUEST_SET_PRIORITY":
            changed.add(source)
    return {urls[source] for source in changed if source in urls}


def test_over_quic_a_host_is_known_by_its_alt_svc_and_without_it_images_wait(pages) -> None:
    known, _ = load(pages["page"], '"quic"')
    assert sum(each.priority in DELAYABLE for each in known.requests) > IMAGES - 10
    assert known.held_back() == ()
    unknown, _ = load(pages["page"], '{ name = "changed", base = "quic", alt_svc = false }')
    assert len(unknown.held_back()) > HELD_MIN


def test_the_connection_type_is_the_one_that_was_asked_for(pages) -> None:
    more = 'effective_connection_type = "2g"\n'
    slow, record = load(pages["own"], '"tcp+"', more)
    assert record["browser"]["effective_connection_type"] == "2g"
    # Images that come into view are no longer of low priority, and no longer count.
    later = record["raised"]
    held = [each for each in slow.held_back() if each.url not in later]
    assert len(held) > HELD_MIN
    left = Scheduling(tuple(each for each in slow.requests if each.url not in later))
    assert left.in_flight_max()[""] <= SLOW_IN_FLIGHT_MAX


@pytest.mark.parametrize("stack", ["tcp+", "quic"])
def test_on_anothers_connection_a_host_is_known_to_known_visitors_alone(stack: str, pages) -> None:
    first, record = load(pages["coalesced"], f'"{stack}"')
    assert len({each["connection"] for each in record["requests"] if ".svg" in each["url"]}) == 1
    assert len(first.held_back()) > HELD_MIN
    assert {each.host for each in first.held_back()} == {IMAGES_HOST}
    known, record = load(pages["coalesced"], f'"{stack}"', 'visitor = "known"\n')
    assert known.held_back() == ()
    # The measured load began like a first one: nothing resumed, nothing was there.
    assert not any(each["in_force"]["resumed"] for each in record["connections"])
    assert {each["from"] for each in record["objects"]} == {"network"}
