"""The outcomes' reference page; `python -m eyelevel.reference.outcomes` writes it."""

from pathlib import Path

from eyelevel.store.outcomes import OUTCOMES

_CONSEQUENCES = {
    "none": "counted",
    "result": 'counted, as "slower than the limit"',
    "instrument": "its whole block is excluded",
}


def reference_page() -> str:
    """The text of `docs/reference/outcomes.md`."""
    lines = [
        "# Outcomes",
        "",
        "Every load ends with exactly one of these. A failure of the instrument excludes its whole",
        "block: the loads of all stacks for the same site, network and repetition. So no stack",
        "gains from the failure of another's load. A result is never excluded.",
        "",
        "| outcome | meaning | fault | what follows |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{outcome.name}` | {outcome.meaning} | {outcome.fault} "
        f"| {'tried again; then ' if outcome.tried_again else ''}{_CONSEQUENCES[outcome.fault]} |"
        for outcome in OUTCOMES
    ]
    lines += [
        "",
        "Written by `python -m eyelevel.reference.outcomes`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    Path("docs/reference/outcomes.md").write_text(reference_page(), encoding="utf-8")
