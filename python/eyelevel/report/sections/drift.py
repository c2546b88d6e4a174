"""The section on drift: the autocorrelation of differences and its power."""

from eyelevel.analysis.formats import NO_BREAK, format_number, format_p_equation, format_percent
from eyelevel.analysis.stats.autocorrelation import DRIFT_LENGTH, DRIFT_SHARE, REPETITIONS_MIN
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element


def warn_of_drift(contents: StudyResults) -> list[tuple[str, str]]:
    """Return a warning if successive blocks are more alike than by chance."""
    drift = contents.drift
    if drift is None or not drift.seen:
        return []
    found = drift.autocorrelation
    assert found.p is not None
    text = (
        f"Their lag-1 autocorrelation is {_describe(found)}, {format_p_equation(found.p)}. "
        "If a stack drifted, intervals are too narrow: run again at another time or on other "
        "machines."
    )
    return [("Successive blocks resemble each other.", text)]


def drift_note(contents: StudyResults) -> Markup:
    """Return the autocorrelation with its interval and power, or why there is none.

    Empty if nothing is compared.
    """
    drift = contents.drift
    if drift is None:
        return Markup("")
    found = drift.autocorrelation
    if found.value is None:
        said = f"A drift can be seen from {REPETITIONS_MIN} blocks on; here are {found.n}."
        if found.n >= REPETITIONS_MIN:
            said = f"Whether a stack drifted is unknown: {found.reason}."
        return element("p", said, class_="note")
    share = format_percent(drift.noticed_share, signed=False)
    said = (
        f"Lag-1 autocorrelation of the differences: {_describe(found)}, pooled "
        f"over all comparisons. A drift of {DRIFT_SHARE:.0%} of one stack's variance over "
        f"{DRIFT_LENGTH:g} blocks would be noticed in {share} of such runs: "
        "that there is no warning proves nothing."
    )
    return element("p", said, class_="note")


def drift_json(contents: StudyResults) -> JsonObject:
    """Return the drift as JSON."""
    return {"drift": None if contents.drift is None else contents.drift.as_json()}


def _describe(found: Estimate) -> str:
    value, low, high = (
        format_number(each or 0.0, "+.2f") for each in (found.value, found.low, found.high)
    )
    return f"{value} (95{NO_BREAK}% interval {low} to {high})"
