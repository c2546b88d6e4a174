"""The closed list of outcomes: every load ends with exactly one of them.

`docs/reference/outcomes.md` is generated from this table: `python -m
eyelevel.cli.reference`.
"""

from dataclasses import dataclass
from typing import Literal

Fault = Literal["none", "instrument", "result"]


@dataclass(frozen=True)
class Outcome:
    """One way in which a load can end.

    `fault`: no fault, a failure of the instrument, or a result of the stack under test.
    `excludes_load`: whether the load is left out, and with it each pair that it is part of; the
    other pairs of its block count. `tried_again`: whether an attempt without values is repeated,
    because it says nothing about the stack and another one may succeed.
    """

    name: str
    meaning: str
    fault: Fault
    excludes_load: bool
    tried_again: bool = False


OUTCOMES: tuple[Outcome, ...] = (
    Outcome("ok", "The load ended and every check held.", "none", False),
    Outcome(
        "timeout",
        "The page had not loaded at the trial's time limit (180 s unless the plan says otherwise), "
        "or the network lost it or one of its objects, which then never came: a QUIC connection "
        "that was idle for too long, a PING of HTTP/2 without an answer, a reset for no error of "
        "our server's. Gains and differences count it as the limit, since it took at least that "
        "long; medians and ranks count it as slower than any load that ended.",
        "result",
        False,
    ),
    Outcome(
        "missed-requests",
        "A render-blocking request had no recorded answer, or the set of misses differs from that "
        "of most of the block's loads.",
        "instrument",
        True,
    ),
    Outcome(
        "wrong-protocol",
        "An object came over another protocol than the stack's, or all came over http, where no "
        "stack applies. `data:`, `blob:`, cache, service worker and WebSocket are exempt, but "
        "counted.",
        "instrument",
        True,
    ),
    Outcome(
        "wrong-stack",
        "What was in force (congestion control, initial window, pacing, ...) differs from the "
        "stack's definition.",
        "instrument",
        True,
    ),
    Outcome(
        "different-page",
        "A server broke an object (any other error of QUIC, HTTP/2 or TLS, or an early end), an "
        "external server's body has another size than the recorded one by more than 1 %, the "
        "browser could not decode the page's body, a step after the load failed, a live page "
        "answered with an error, the page left for a document that no server gave "
        "(`about:blank`), or the final picture is unlike that of the site's other loads.",
        "instrument",
        True,
    ),
    Outcome(
        "late-packets",
        "Packets were read or released later than the stated bound allows, or some were lost "
        "outside the path's model, and nothing else was wrong. How late they are depends on the "
        "stack's own work, too, so that such a load counts; if more than half of a stack's loads "
        "on a network are like this, the network has no answer.",
        "instrument",
        False,
    ),
    Outcome(
        "capture-incomplete",
        "Frames or requests were lost, the last frame is not what the page shows at its end, the "
        "page's own timings could not be read or are not what the browser's events say, or (where "
        "nobody could watch its processes) its own timer stopped for 200 ms longer than in the "
        "page's other loads without a long task to explain it.",
        "instrument",
        True,
        tried_again=True,
    ),
    Outcome(
        "starved",
        "A process of the load was stopped, or the machine was too busy during the block: in one "
        "of its loads other programs or the hypervisor took more processor time than the stated "
        "bounds allow.",
        "instrument",
        True,
    ),
    Outcome(
        "impossible-timing",
        "A connection was accepted before the navigation started or sooner after it than the path "
        "allows, or a handshake or the document's first byte took less than its round trips. Warm "
        "and repeat visits and those with early data are not judged.",
        "instrument",
        True,
    ),
    Outcome(
        "browser-crashed",
        "The browser ended, stopped answering, or sent an impossible message.",
        "instrument",
        True,
        tried_again=True,
    ),
    Outcome(
        "lab-failed",
        "The lab could not be built, or it failed during the load.",
        "instrument",
        True,
        tried_again=True,
    ),
)

OUTCOMES_BY_NAME: dict[str, Outcome] = {outcome.name: outcome for outcome in OUTCOMES}

CENSORED = tuple(outcome.name for outcome in OUTCOMES if outcome.fault == "result")
"""Outcomes of incomplete pages, which are censored: they took longer than the limit."""

COUNTED = tuple(
    outcome.name for outcome in OUTCOMES if outcome.fault != "result" and not outcome.excludes_load
)
"""Outcomes of loads whose values count, unless their block is starved."""


NOT_RECORDED = (
    "net::ERR_NAME_NOT_RESOLVED",
    "net::ERR_CONNECTION_REFUSED",
    "NS_ERROR_UNKNOWN_HOST",
)
"""Errors of an object whose name the lab does not resolve or whose address it does not serve:
the request was not in the recording. Firefox reports "refused" also if QUIC failed and it then
tried TCP, so its error is not included.
"""
