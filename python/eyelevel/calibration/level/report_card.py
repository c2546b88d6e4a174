"""Judge an external server's aspects from outside: against a level stack and the RFCs; pure.

A server gives neither events nor logs. Its aspects are those of the level that the path's packets,
the browser and our own client show (`eyelevel.calibration.level.aspects`). The cost of a fault is
that of the same fault in our own servers, on a named page over a named network; it was measured by
`python -m benchmarks.level.fault_costs`.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.json_types import JsonObject
from eyelevel.calibration.level.classes import (
    SAMPLES_MIN,
    SCENARIOS_BY_NAME,
    Scenario,
    Value,
)
from eyelevel.calibration.level.rows import Row
from eyelevel.calibration.level.value_text import (
    digits_of,
    format_number,
    format_unit,
    format_value,
)
from eyelevel.plan.stacks import HttpVersion

Grade = Literal["broken", "costs pages time", "allowed", "recommended", "unknown"]
GRADES: tuple[Grade, ...] = ("broken", "costs pages time", "allowed", "recommended", "unknown")
"""The grades in the order of a report card."""
CHECKED = tuple(
    SCENARIOS_BY_NAME[name]
    for name in (
        "bulk on far",  # the first, since a busy machine spoils it least
        "late on slow",
        "loss at the tail",
        "loss in the middle",
        "page on slow",
    )
)
"""The scenarios of a report card, in their order."""
COSTS_FILE = "fault_costs.json"
INCONCLUSIVE = ("starved", "late-packets", "other than the intended")
"""Words of failures from which nothing follows about a server."""


@dataclass(frozen=True)
class Criterion:
    """The expectation of a server in one aspect.

    `worse`: 1 if a greater value than the level stack's is a disadvantage, -1 if a smaller one is.
    `rule`: what a standard states. `versions`: over HTTP/2 some aspects are the kernel's. `fault`:
    the planted fault that has the same sign, by the name in the table of costs. `caused_by`: the
    aspects that change this one as well. `enough`: the value beyond which more is no better.
    """

    aspect: str
    worse: Literal[1, -1]
    rule: str
    versions: tuple[HttpVersion, ...] = ("h2", "h3")
    fault: str = ""
    caused_by: tuple[str, ...] = ()
    enough: float | None = None

    def is_worse(self, difference: Estimate) -> bool:
        """Return whether a difference, the server's value less the level stack's, is a loss."""
        return bool(difference.value) and math.copysign(1, difference.value or 0.0) == self.worse


CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        "first usable byte",
        1,
        "a response's head leaves at once",
        fault="50 ms before the first byte",
    ),
    Criterion(
        "late urgent request",
        1,
        "more urgent responses go first: RFC 9218 10",
        fault="priorities ignored",
    ),
    Criterion(
        "initial window",
        -1,
        "10 packets are recommended: RFC 9002 7.2; level stacks have 32, as Wolsing et al. 2019",
        ("h3",),
        fault="initial window of 10 packets",
    ),
    Criterion(
        "pacing",
        -1,
        "a sender paces, or bounds its bursts: RFC 9002 7.7",
        ("h3",),
        fault="no pacing",
        caused_by=("initial window",),
    ),
    Criterion(
        "repair at the tail",
        1,
        "a probe goes out after SRTT + 4 RTTVAR: RFC 9002 6.2, RFC 8985 7.3",
    ),
    Criterion(
        "repair in the middle",
        1,
        "three later packets show a loss: RFC 9002 6.1.1, RFC 8985 6.2",
    ),
    Criterion(
        "handshake in the browser",
        1,
        "one round trip over QUIC, two over TCP: RFC 9001 4.1, RFC 8446 2",
        caused_by=("certificate chain",),
    ),
    Criterion(
        "handshake",
        1,
        "the same for a client that sends both packets of a hello at once",
        caused_by=("certificate chain", "handshake in the browser"),
    ),
    Criterion(
        "certificate chain",
        1,
        "before a client is validated, three times what came may be sent: RFC 9000 8.1",
        fault="a certificate chain of 4,000 bytes",
    ),
    Criterion("session tickets", -1, "tickets let later visits resume: RFC 8446 4.6.1", enough=1.0),
    Criterion(
        "time in the browser's scheduler",
        1,
        "Alt-Svc names HTTP/3, by which Chromium schedules: RFC 7838 3",
        ("h3",),
        fault="no Alt-Svc",
    ),
    Criterion("packet size", -1, "the path's largest packets: RFC 9000 14.3"),
)


@dataclass(frozen=True)
class Cost:
    """The cost of a planted fault on one page: ms of a metric with their interval."""

    fault: str
    site: str
    network: str
    metric: str
    ms: Estimate

    @property
    def is_certain(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.ms.low is not None and self.ms.low > 0

    @property
    def rank(self) -> tuple[bool, float]:
        """Its place among those of the same fault: certain ones first, then by size."""
        return self.is_certain, self.ms.value or 0.0


@dataclass(frozen=True)
class Finding:
    """One aspect of a server over one HTTP version.

    `level` and `server`: the values of both sides; `difference` is the server's less the level
    stack's. `consequence_of`: other findings of the same card that change this aspect.
    """

    version: HttpVersion
    aspect: str
    network: str
    grade: Grade
    level: Value | None
    server: Value | None
    difference: Estimate
    unit: str
    rule: str
    cost: Cost | None = None
    consequence_of: tuple[str, ...] = ()
    note: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether the server is broken, or worse than the level stack in this aspect."""
        if self.grade in ("broken", "costs pages time"):
            return True
        criterion = next(each for each in CRITERIA if each.aspect == self.aspect)
        return self.grade == "allowed" and criterion.is_worse(self.difference)

    def as_json(self) -> JsonObject:
        """Return the JSON of `eyelevel server check --json`."""
        cost = self.cost and {**asdict(self.cost), "ms": self.cost.ms.as_json()}
        return {**asdict(self), "difference": self.difference.as_json(), "cost": cost}


@cache
def read_costs() -> Mapping[tuple[HttpVersion, str], Cost]:
    """Return the measured costs by HTTP version and planted fault."""
    return parse_costs(files("eyelevel.calibration.level").joinpath(COSTS_FILE).read_text("utf-8"))


def parse_costs(text: str) -> Mapping[tuple[HttpVersion, str], Cost]:
    """Return the costs of a table by HTTP version and planted fault.

    Of a fault's metrics it is the one that certainly costs most, if there is one.
    """
    costs: dict[tuple[HttpVersion, str], Cost] = {}
    for each in json.loads(text)["costs"]:
        ms = Estimate(each["ms"], each["ms_low"], each["ms_high"])
        key = (each["version"], each["fault"])
        cost = Cost(each["fault"], each["site"], each["network"], each["metric"], ms)
        if key not in costs or cost.rank > costs[key].rank:
            costs[key] = cost
    return costs


def judge_server(
    version: HttpVersion,
    server: str,
    rows: Sequence[Row],
    scenarios: Iterable[Scenario],
    failures: Sequence[str],
    costs: Mapping[tuple[HttpVersion, str], Cost],
) -> list[Finding]:
    """Return the findings of one HTTP version; `server` is the name of its stack.

    `rows`: the level of the level stack (first) and the server (second), of which those of
    `scenarios` count. `failures`: the errors of runs, which begin with scenario and stack.
    """
    names = {scenario.name for scenario in scenarios}
    by_aspect: dict[str, list[Row]] = {}
    for row in rows:
        if row.scenario in names:
            by_aspect.setdefault(row.aspect, []).append(row)
    findings = [
        _judge(version, criterion, row, _find_fault(server, row, failures), costs)
        for criterion in CRITERIA
        if version in criterion.versions
        for row in by_aspect.get(criterion.aspect, [])
    ]
    faults = {each.aspect for each in findings if each.is_fault}
    return [_attribute(each, faults) for each in findings]


def order_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings by grade, then by what repairing each would give, causes first."""

    def key(each: Finding) -> tuple[int, bool, float]:
        ms = each.cost.ms.value if each.cost else None
        return GRADES.index(each.grade), bool(each.consequence_of), -(ms or 0.0)

    return sorted(findings, key=key)


def _judge(
    version: HttpVersion,
    criterion: Criterion,
    row: Row,
    fault: str,
    costs: Mapping[tuple[HttpVersion, str], Cost],
) -> Finding:
    cost = costs.get((version, criterion.fault)) if criterion.fault else None
    grade, note = _grade(criterion, row, cost, fault)
    return Finding(
        version=version,
        aspect=row.aspect,
        network=row.network,
        grade=grade,
        level=row.first,
        server=row.second,
        difference=row.difference,
        unit=row.unit,
        rule=criterion.rule,
        cost=cost if grade == "costs pages time" else None,
        note=note,
    )


def _find_fault(server: str, row: Row, failures: Sequence[str]) -> str:
    """Return the first failure of the server's runs for which the machine is not to blame."""
    if row.runs[0] < SAMPLES_MIN or row.runs[1]:
        return ""
    start = f"{row.scenario}, {server}: "
    own = (text.removeprefix(start) for text in failures if text.startswith(start))
    return next((text for text in own if not any(word in text for word in INCONCLUSIVE)), "")


def _grade(criterion: Criterion, row: Row, cost: Cost | None, fault: str) -> tuple[Grade, str]:
    """Return the grade of one row, and a note on it."""
    if fault:
        return "broken", fault
    if row.word in ("equal", "inherent", "browser") or _is_enough(criterion, row.second):
        return "recommended", ""
    if row.word != "unequal" or row.difference.value is None:
        return "unknown", _why_unknown(row)
    if not criterion.is_worse(row.difference):
        return "allowed", "better than the level stack"
    if cost is None:
        return "allowed", "what it costs pages is not known"
    if not cost.is_certain:
        return "allowed", f"no cost was found on {cost.site} over {cost.network}"
    return "costs pages time", ""


def _is_enough(criterion: Criterion, value: Value | None) -> bool:
    if criterion.enough is None or not isinstance(value, float):
        return False
    return (criterion.enough - value) * criterion.worse >= 0


def _why_unknown(row: Row) -> str:
    if row.word == "absent" and row.because:
        return row.because
    if None in (row.first, row.second):
        return "it has no value"
    if not row.difference.determined:
        return row.difference.reason
    return "the interval includes both more and less than the margin"


def _attribute(finding: Finding, faults: set[str]) -> Finding:
    """Return a fault with those of the same card that cause it."""
    criterion = next(each for each in CRITERIA if each.aspect == finding.aspect)
    causes = tuple(name for name in criterion.caused_by if name in faults)
    if not finding.is_fault or not causes:
        return finding
    return Finding(**{**finding.__dict__, "consequence_of": causes})


HEADINGS: Mapping[Grade, str] = {
    "broken": "BROKEN: no run of it succeeded, while each of the level stack's did",
    "costs pages time": "COSTS PAGES TIME: worse than the level stack, and planted, slower pages",
    "allowed": "ALLOWED: not as the level stack, without a known cost",
    "recommended": "AS RECOMMENDED: as the level stack, within the margin or the protocol's own",
    "unknown": "UNKNOWN: no value, or too wide an interval",
}
VERSION_NAMES: Mapping[HttpVersion, str] = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}


def card_lines(name: str, findings: Sequence[Finding]) -> list[str]:
    """Return a report card as lines: the answer, then the findings by grade in their order."""
    counts = [
        f"{count} {grade}"
        for grade in GRADES
        if (count := sum(each.grade == grade for each in findings))
    ]
    lines = [f"{name}, {len(findings)} aspects: {', '.join(counts)}."]
    for grade in GRADES:
        of_grade = [each for each in findings if each.grade == grade]
        if of_grade:
            lines += ["", HEADINGS[grade]]
        for each in of_grade:
            lines += _finding_lines(each)
    return lines


def _finding_lines(finding: Finding) -> list[str]:
    server, level = (format_value(value, finding.unit) for value in (finding.server, finding.level))
    version = VERSION_NAMES[finding.version]
    lines = [f"  {version}, {finding.aspect} ({finding.network}): {server}; level {level}"]
    if finding.grade not in ("recommended", "unknown") and finding.difference.determined:
        lines[0] += f"; difference {format_interval(finding.difference, finding.unit)}"
    if finding.cost:
        cost = finding.cost
        lines.append(
            f"      {cost.fault}, planted in our own stack, costs "
            f"{format_interval(cost.ms, 'ms')} of {cost.metric} on {cost.site} over "
            f"{cost.network}"
        )
    if finding.consequence_of:
        lines.append(f"      may be a consequence of: {', '.join(finding.consequence_of)}")
    if finding.grade != "recommended":
        lines += [f"      {text}" for text in (finding.note, finding.rule) if text]
    return lines


def format_interval(found: Estimate, unit: str) -> str:
    """Return a determined estimate with its interval and unit, as text."""
    numbers = [each for each in (found.value, found.low, found.high) if each is not None]
    digits = digits_of(numbers, unit)
    value, low, high = (format_number(each, unit, digits, signed=True) for each in numbers)
    return f"{value} {format_unit(unit)} ({low} to {high})".replace("  ", " ")
