"""Generate the level's reference page."""

from collections.abc import Mapping

from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import SAMPLES_MIN, SCENARIOS, Aspect, Measure
from eyelevel.calibration.level.generated_page import FONTS, IMAGES, LATE_AFTER_IMAGES, STYLES
from eyelevel.calibration.level.value_text import format_value

_HEAD = f"""\
# The level: what two stacks differ in

`eyelevel validate level` compares two stacks by measurement and classes each difference:

    $ eyelevel validate level --stacks tcp+,quic
    $ eyelevel validate level --stacks tcp+,mine --plan plan.toml    # a plan's own stacks
    $ eyelevel validate level --page level.html --open               # as a page

| word | when |
| --- | --- |
| equal | the whole 95 % interval of the difference lies within the margin; counts are exact |
| inherent | a section of an RFC causes it in the protocol, within the bound expected of it |
| the browser's | a flag or habit of the browser causes it, and it is within such a bound |
| unequal | the whole interval is beyond what is allowed: there is no bound, or it is beyond it |
| unknown | the interval is too wide, or there is none: this is never called equal |
| not there | one of the two has nothing of the kind, as HTTP/1.1 has no priorities |

A bound applies to QUIC's value minus TCP's, so two stacks over one transport have no inherent
differences. If a bound excludes zero, the absence of a difference is unequal, too. Bounds follow
from the section that is named, the test page and the network, not from measurements.

The command prints the rows that are unequal or unknown before all others. A row has both values
(means, or medians for counts), their difference with its interval, and the margin; below it, what
a bound allows, and why. The exit status is 1 if an aspect is unequal.

Both stacks take turns in every scenario. Each side has at least {SAMPLES_MIN} runs; rows that are
then unknown get more of them until four minutes are over. What is still missing is measured when
you give the command again. Means have Welch's interval, counts the smallest and the largest
difference between any two runs. Because runs are added while a row is unknown, a difference that is
exactly its margin is called equal or unequal in up to 6 % of measurements each, not in 2.5 %. A
load that was not `ok` (`outcomes.md`) is repeated, and so is a transfer that the machine starved.
Runs are kept below `~/.cache/eyelevel/level`, for one build (version, binary and code), kernel,
browser and the settings of both stacks; `--fresh` measures again.

When a run begins, what was measured for the plan's pairs (its reference with every other stack)
goes into its `environment.json` (`levels`). Its report begins with what is unequal, then unknown,
and warns "Level: not measured on this machine" if a pair was not measured. `eyelevel explain
stacks` shows the same aspects for any number of stacks.

## What is done
"""

_MADE = f"""
The test page has {IMAGES} images below the fold, {STYLES} style sheets and a script on its own
host, {FONTS} fonts on another, and a script of high priority that image {LATE_AFTER_IMAGES}
triggers. Our own client transfers one body that does not compress, without and with a loss. The
page has no host of a plan's round trips by origin: two stacks that differ only in these have no
level.

On the network with loss, the lost packets are chosen rather than drawn at random, since what the
repair of a loss costs depends on its place in a response. The yardstick (`yardstick.md`) has
transfers with random losses of 0.1 to 6 % each way.
"""


JSON_KEYS: dict[str, str] = {
    "first, second": "the stacks' names",
    "eyelevel, binary, kernel, browser": "versions of eyelevel, Linux and the browser, and the "
    "binary's digest",
    "cache": "the version of the measurements' format",
    "complete": "whether every scenario has the runs that an interval needs",
    "failed": "list of sentences: failures of runs",
    "rows": "list with an entry per aspect and scenario, as above",
}
JSON_ROW_KEYS: dict[str, str] = {
    "aspect, scenario, network": "names, as above",
    "unit": "of the numbers up to `allowed_high`; empty for counts and labels",
    "first, second": "each stack's mean; the median of counts; all labels seen, joined by a "
    "bar; null: none",
    "difference": "second minus first, an estimate ([report.md](report.md)) with p for means "
    "only; of labels 0: equal, 1: different",
    "margin": "what is too little to matter; 0: exact",
    "allowed_low, allowed_high": "what the difference may be, the margin included",
    "word": "`equal`, `inherent`, `browser`, `unequal`, `unknown` or `absent`",
    "because": "for `inherent` and `browser` the RFC's section, or the browser's setting or "
    "habit; for `absent` the reason",
    "settings": "list: settings of the aspect in which the stacks differ",
    "runs": "list of two: number of runs with each stack",
    "effect_ms": "with `--effects`: by metric and network what switching the aspect alone "
    "moves in ms, an estimate; else null",
}


def reference_page() -> str:
    """Return the text of `docs/reference/level.md`."""
    lines = [_HEAD, "| scenario | network | what |", "| --- | --- | --- |"]
    for scenario in SCENARIOS:
        network = scenario.network
        path = (
            f"`{network.name}`: {network.rtt_ms_min:g} ms, {network.rate_down_bit_s / 1e6:g} Mbit/s"
        )
        what = {
            "page": "the test page in Chromium",
            "bulk": f"{scenario.body_bytes:,} bytes with our own client",
            "late": f"{scenario.body_bytes:,} bytes, and an urgent request while they flow",
            "tail": f"{scenario.body_bytes:,} bytes, the last packet lost",
            "middle": f"{scenario.body_bytes:,} bytes, one packet in the middle lost",
        }[scenario.kind]
        lines.append(f"| {scenario.name} | {path} | {what} |")
    lines += [
        _MADE,
        "## Aspects that are measured",
        "",
        "| aspect | what | where | from | margin | by nature |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            _format_measured_table(aspect, aspect.measure)
            for aspect in ASPECTS
            if aspect.measure is not None
        ),
        "",
        "## Aspects that are settings",
        "",
        "| aspect | settings of the stack |",
        "| --- | --- |",
        *(
            f"| {aspect.name} | {', '.join(f'`{name}`' for name in aspect.settings)} |"
            for aspect in ASPECTS
            if aspect.says is not None
        ),
        "",
        "## What `--json` prints",
        "",
        "Numbers are not rounded. `environment.json` and `report --json` have this in `levels`.",
        "",
        *_keys(JSON_KEYS),
        "",
        "Each of `rows`:",
        "",
        *_keys(JSON_ROW_KEYS),
        "",
        "Written by `python -m eyelevel.cli.reference`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)


def _keys(meanings: Mapping[str, str]) -> list[str]:
    rows = (
        f"| {', '.join(f'`{key}`' for key in keys.split(', '))} | {meaning} |"
        for keys, meaning in meanings.items()
    )
    return ["| key | value |", "| --- | --- |", *rows]


def _format_measured_table(aspect: Aspect, measure: Measure) -> str:
    cells = (
        aspect.name,
        aspect.what,
        ", ".join(measure.on),
        measure.source,
        _margin(measure),
        _nature(measure),
    )
    return f"| {' | '.join(cells)} |"


def _margin(measure: Measure) -> str:
    margins = [format_value(measure.margin, measure.unit)] if measure.margin else []
    margins += [f"{measure.margin_share * 100:g} %"] if measure.margin_share else []
    if not margins:
        return "exact"
    return " or ".join(margins) + (", the larger" if len(margins) > 1 else "")


def _nature(measure: Measure) -> str:
    bound = measure.bound
    if bound is None:
        return "equal"
    kind = {"inherent": "inherent", "browser": "the browser's"}[bound.kind]
    if measure.bound_with:
        settings = " and ".join(f"`{name} = {value}`" for name, value in measure.bound_with.items())
        kind = f"equal; where both have {settings} {kind}"
    low, high = (format_value(limit, measure.unit) for limit in (bound.low, bound.high))
    return f"{kind}, {low if low == high else f'{low} to {high}'}: {measure.because}"
