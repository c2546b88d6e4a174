"""Decide the outcome of one load by the first rule that applies: a pure function.

The instrument's own faults come first: a load whose processes were suspended is no evidence about
the stack, not even that it was too slow. Late packets come last, since a load with them counts.
Rules that need the other loads of a block or site are in `eyelevel.analysis.trials`.
"""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from eyelevel.analysis.trials.starvation import describe_suspension
from eyelevel.browser.observations import UNDECODABLE
from eyelevel.load.coding import Observed
from eyelevel.load.recorded_answers import find_other_size, find_unserved
from eyelevel.load.rules import (
    broken_by_peer,
    error_page,
    impossible_timing,
    is_network_loss,
    late_packets,
    server_fault,
)
from eyelevel.load.wrong_stack import wrong_stack
from eyelevel.sites.rendering import blocks_rendering
from eyelevel.store.outcomes import NOT_RECORDED

CLEARTEXT_PROTOCOLS = ("http/1.1", "http/1.0")
"""The protocols over which recorded http origins are served, whatever the stack."""
_EXEMPT_TYPES = ("WebSocket", "Preflight")
_ERROR = re.compile(r"(?:net::|NS_)\w+(?:\.\w+)?")
_NOT_REACHED = ("net::ERR_ADDRESS_UNREACHABLE", "net::ERR_INTERNET_DISCONNECTED")


def judge(load: Observed) -> tuple[str, str]:
    """Return the outcome and one sentence about it; the sentence is empty for `ok`."""
    for outcome, rule in _RULES:
        detail = rule(load)
        if detail:
            return outcome, detail
    return "ok", ""


def judge_live(load: Observed) -> tuple[str, str]:
    """Judge a load without our servers and path: `requests`, `connections` and `path` are empty.

    Missing objects are part of a live page: they may be missing for all visitors.
    """
    for outcome, rule in _LIVE_RULES:
        if detail := rule(load):
            return outcome, detail
    return "ok", ""


def misses(load: Observed) -> set[str]:
    """Return the URLs that the page requested and the recording lacks."""
    unanswered = {r["url"] for r in load.requests if r["match"] == "miss"}
    unresolved = {o["url"] for o in load.objects if (o["failed"] or "") in NOT_RECORDED}
    return unanswered if load.are_others_blocked else unanswered | unresolved


def _find_crash(load: Observed) -> str:
    return load.detail if load.ended == "browser-crashed" else ""


def _find_lab_failure(load: Observed) -> str:
    if load.ended == "navigation-failed" and not _is_page_lost(load):
        return load.detail
    is_cached = load.browser.visit == "cached"  # the cache may have all of the page
    if load.ended == "complete" and not load.requests and load.stack.is_ours and not is_cached:
        return "the page loaded, but no server saw a request"
    return ""


def _find_undecodable_page(load: Observed) -> str:
    if load.ended == "navigation-failed" and any(error in load.detail for error in UNDECODABLE):
        return f"the browser cannot decode the page: {load.detail}"
    return ""


def _find_unreached(load: Observed) -> str:
    if load.ended != "navigation-failed" or _is_page_lost(load):
        return ""
    if any(error in load.detail for error in _NOT_REACHED):
        return (
            f"{load.detail}; a live load reaches only public addresses and those that --allow names"
        )
    return load.detail


def _find_suspension(load: Observed) -> str:
    return describe_suspension(load.host)


def _late(load: Observed) -> str:
    return late_packets(load.path, load.network.rtt_ms_min)


def _wrong_protocol(load: Observed) -> str:
    expected = load.stack.protocols
    schemes = set()
    for item in load.objects:
        if item["from"] != "network" or item["protocol"] is None:
            continue
        if item["resource_type"] in _EXEMPT_TYPES:
            continue
        schemes.add(scheme := urlsplit(item["url"]).scheme)
        if scheme == "http" and item["protocol"] not in CLEARTEXT_PROTOCOLS:
            return f"{item['url']} came over {item['protocol']} though it was recorded in cleartext"
        if scheme == "https" and item["protocol"] not in expected:
            wanted = " or ".join(expected)
            return f"{item['url']} came over {item['protocol']} instead of {wanted}"
    if schemes == {"http"} and load.stack.over_tls:
        return (
            "every object came over http in cleartext, with which no stack is in force; "
            "`eyelevel site import --secure` makes an https site of the recording"
        )
    return ""


def _find_misses(load: Observed) -> str:
    if not load.stack.is_ours:
        # It reports no misses, so the browser's objects show what it did not serve.
        return find_unserved(load.objects, load.answers)
    missed = misses(load)
    for item in load.objects:
        if item["url"] in missed and blocks_rendering(item):
            return f"render-blocking {item['url']} is not in the recording"
    return ""


def _find_other_size(load: Observed) -> str:
    if load.stack.is_ours or not load.bodies:
        return ""
    return find_other_size(load.objects, load.bodies, load.answers)


def _timeout(load: Observed) -> str:
    """Return why the load timed out: it reached its limit, or the page itself was lost."""
    if load.ended == "timeout":
        return load.detail
    if _is_page_lost(load):
        return f"the page never came: {load.detail}"
    return ""


def _find_lost_object(load: Observed) -> str:
    lost = [item for item in load.objects if is_network_loss(item["failed"] or "")]
    if not lost:
        return ""
    others = len(lost) - 1
    more = f", and {others} more object{'s' if others > 1 else ''}" if others else ""
    return f"the network lost {lost[0]['url']}{more}: {lost[0]['failed']}"


def _find_broken_object(load: Observed) -> str:
    for item in load.objects:
        error = item["failed"] or ""
        fault = server_fault(error, load.connections)
        if fault or broken_by_peer(error):
            return f"{item['url']} failed: {error}{f' (the server: {fault})' if fault else ''}"
    return ""


def _find_departure(load: Observed) -> str:
    if load.ended != "complete" or not load.ended_on:
        return ""
    return f"the page left for {load.ended_on:.100}, which no server gave: it has no times"


def _find_failed_step(load: Observed) -> str:
    return load.failed_step


def _capture_incomplete(load: Observed) -> str:
    if load.requests_lost:
        return f"the page made {load.requests_lost} more requests than are kept for a load"
    if load.timings_refused:
        return load.timings_refused
    if load.page_load_time_ms is None:
        return "the page's own timings could not be read"
    painted = load.first_contentful_paint_ms is not None
    if painted and load.frames is not None and load.frames < 2:
        return "the page painted, but no frame shows it"
    if load.frames_lost:
        return f"the browser had to drop {load.frames_lost} frames"
    if load.final_picture_matches is False:
        return "the last frame is not what the page shows at the end"
    return ""


def _is_page_lost(load: Observed) -> bool:
    """Return whether the network lost the page itself.

    The page's object may have a more precise error than the navigation: QUIC's code.
    """
    if load.ended != "navigation-failed":
        return False
    failed = [item["failed"] for item in load.objects if item["failed"]]
    errors = _ERROR.findall(load.detail)
    exact = [next((each for each in failed if each.startswith(e)), e) for e in errors]
    return any(map(is_network_loss, exact)) and not any(
        server_fault(error, load.connections) for error in exact
    )


_RULES: tuple[tuple[str, Callable[[Observed], str]], ...] = (
    ("browser-crashed", _find_crash),
    ("different-page", _find_undecodable_page),
    ("lab-failed", _find_lab_failure),
    ("starved", _find_suspension),
    ("impossible-timing", impossible_timing),
    ("wrong-protocol", _wrong_protocol),
    ("wrong-stack", wrong_stack),
    ("missed-requests", _find_misses),
    ("different-page", _find_other_size),
    ("timeout", _timeout),
    ("different-page", _find_broken_object),
    ("timeout", _find_lost_object),
    ("different-page", _find_departure),
    ("different-page", _find_failed_step),
    ("capture-incomplete", _capture_incomplete),
    ("late-packets", _late),
)

_LIVE_RULES: tuple[tuple[str, Callable[[Observed], str]], ...] = (
    ("browser-crashed", _find_crash),
    ("different-page", _find_undecodable_page),
    ("lab-failed", _find_unreached),
    ("starved", _find_suspension),
    ("timeout", _timeout),
    (
        "different-page",
        lambda load: error_page(load.objects) or _find_departure(load) or load.failed_step,
    ),
    ("capture-incomplete", _capture_incomplete),
)
