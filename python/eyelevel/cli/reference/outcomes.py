"""Generate the outcomes' reference page."""

from eyelevel.store.outcomes import OUTCOMES, Outcome

_CONSEQUENCES = {
    "none": "counted",
    "result": 'counted, as "slower than the limit"',
    "instrument": "the load and its pairs are excluded",
}
_COUNTS_NEVERTHELESS = "counted, unless most loads of its stack on the network end so"


def reference_page() -> str:
    """Return the text of `docs/reference/outcomes.md`."""
    lines = [
        "# Outcomes",
        "",
        "Every load ends with exactly one of these. A failure of the instrument excludes the load,",
        "and with it each pair that it is part of: a comparison has both loads of a site, network",
        "and repetition or neither, so no stack gains from the failure of its own load. The other",
        "pairs of the block count. A result is never excluded.",
        "",
        "| outcome | meaning | fault | what follows |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{outcome.name}` | {outcome.meaning} | {outcome.fault} "
        f"| {'tried again; then ' if outcome.tried_again else ''}{_consequence(outcome)} |"
        for outcome in OUTCOMES
    ]
    lines += [
        "",
        "Written by `python -m eyelevel.cli.reference`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)


def _consequence(outcome: Outcome) -> str:
    if outcome.fault == "instrument" and not outcome.excludes_load:
        return _COUNTS_NEVERTHELESS
    return _CONSEQUENCES[outcome.fault]
