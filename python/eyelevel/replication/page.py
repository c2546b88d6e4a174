"""Write the page of a text: claim, theirs, ours with its interval, verdict, why it may differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eyelevel.analysis.formats import format_number, with_minus
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.replication.answers import Answer, Answers, RowAnswer
from eyelevel.replication.claims import Claim, Row
from eyelevel.replication.verdicts import region_of

ROWS_SHOWN_MAX = 4
"""The most rows of a claim in the first table; more are folded."""

SHORT = {
    "speed_index_ms": "SI",
    "first_visual_change_ms": "FVC",
    "visual_complete_85_ms": "VC85",
    "last_visual_change_ms": "LVC",
    "page_load_time_ms": "PLT",
}
_SHARES = (
    "mean_gain",
    "median_change",
    "median_of_loads_change",
    "p95_change",
    "spread_of_gains",
    "share_faster",
    "share_faster_by",
    "share_slower",
    "share_undecided",
)
_UNITS = {
    "mean_difference_ms": " ms",
    "quantile_ms": " ms",
    "median_dns_ms": " ms",
    "residual_rtt": " RTT",
    "handshake_round_trips_saved": " RTT",
    "row_count": "",
}
_OF_ROWS = {"agrees": "agree", "disagrees": "disagree", "cannot tell": "cannot be told"}


@dataclass(frozen=True)
class Measured:
    """The loads and runs that answered the claims: the last lines of a page."""

    loads: int
    """The loads that count."""
    seconds: float
    """The time that these loads took."""
    lines: tuple[str, ...]
    """A line for each run: its plan, sites, blocks, digest, and each machine."""
    withheld: tuple[str, ...] = ()
    """The networks whose loads do not count, each with the reason."""


def write_page(answers: Answers, measured: Measured | None) -> str:
    """Return the page of a text in Markdown."""
    return "\n".join(_lines(answers, measured)).rstrip() + "\n"


def _lines(answers: Answers, measured: Measured | None) -> Iterator[str]:
    text = answers.claims.text
    yield f"# Claims of {text.short}"
    yield ""
    yield text.citation
    yield ""
    yield from _summary(answers, measured)
    decided = [each for each in answers.measured if each.verdict != "cannot tell"]
    undecided = [each for each in answers.measured if each.verdict == "cannot tell"]
    yield ""
    if decided:
        yield "## Verdicts"
        yield ""
        yield from _table(decided)
        yield ""
    if text.notes:
        yield "## Followed up"
        yield ""
        yield from (f"- {each}" for each in text.notes)
        yield ""
    if undecided:
        yield from _fold(
            f"{_count(len(undecided))} that these measurements leave open", _table(undecided)
        )
    waiting = [each for each in answers.answers if each.claim.is_askable and not each.rows]
    if waiting:
        heads = ("claim", "place", "what it takes")
        rows = [
            (_name_claim(each.claim), each.claim.place, _describe_need(each.claim))
            for each in waiting
        ]
        yield from _fold(f"{_count(len(waiting))} not measured yet", _rows(heads, rows))
    unasked = [each.claim for each in answers.answers if not each.claim.is_askable]
    if unasked:
        heads = ("claim", "place", "cannot be asked because")
        rows = [(_name_claim(each), each.place, each.reason) for each in unasked]
        yield from _fold(f"{_count(len(unasked))} that cannot be asked here", _rows(heads, rows))
    many = [each for each in answers.measured if len(each.rows) > ROWS_SHOWN_MAX]
    if many:
        yield from _fold("All rows of claims with many", _row_tables(many))
    if text.setup:
        yield from _fold("How the text measured", [f"- {each}" for each in text.setup])
    if measured is not None:
        yield from _fold("What measured here", [f"- {each}" for each in measured.lines])


def _summary(answers: Answers, measured: Measured | None) -> Iterator[str]:
    asked = len(answers.measured)
    agree, disagree = (
        f"{number} {verb if number == 1 else verb.removesuffix('s')}"
        for verb in ("agrees", "disagrees")
        for number in [answers.count(verb)]
    )
    counts = [agree, disagree, f"{answers.count('cannot tell')} cannot be told"]
    every = _count(len(answers.answers))
    yield f"Of {every} in the text, {asked} were measured: {', '.join(counts)}."
    yield (
        f"On average, at most {answers.false_verdicts_max:.2f} of these {asked} verdicts are "
        "false: each claim has a false one in at most 5 % of studies."
    )
    if measured is not None and measured.loads:
        hours = measured.seconds / 3600
        yield f"Ours are of {measured.loads:,} loads that count, {hours:.1f} hours of them."
    if measured is not None and measured.withheld:
        yield f"No load counts of {'; '.join(measured.withheld)}."
    yield (
        "A number agrees if our whole 95 % interval lies within the claim's margin, which was "
        "stated beforehand; a sign, if it lies on that side of zero. For a statement about "
        "a population of sites the verdict is on whether it holds for our sites too."
    )


def _table(answers: Sequence[Answer]) -> Iterator[str]:
    heads = ("claim", "theirs", "ours [95 %]", "verdict", "why it may differ")
    return _rows(
        heads,
        [
            (
                f"{_name_claim(each.claim)} ({each.claim.place})",
                _describe_theirs(each),
                _describe_ours(each),
                _verdict(each),
                each.claim.reason,
            )
            for each in answers
        ],
    )


def _verdict(answer: Answer) -> str:
    expected = answer.claim.expected
    return f"{answer.words} (as expected)" if expected == answer.verdict else answer.words


def _name_claim(claim: Claim) -> str:
    return f"**{claim.id}** {claim.claim}"


def _describe_theirs(answer: Answer) -> str:
    claim = answer.claim
    if claim.rule == "number":
        numbers = {each.row.network: each.row.number or 0.0 for each in answer.rows}
        if len(numbers) > ROWS_SHOWN_MAX:
            least, largest = (_value(claim, edge(numbers.values())) for edge in (min, max))
            return f"{len(numbers)} numbers, {least} to {largest}"
        return ", ".join(
            f"{_value(claim, number)} ± {_value(claim, claim.margin_of(number), signed=False)}"
            f"{_name_place(place, len(numbers))}"
            for place, number in numbers.items()
        )
    if claim.rule == "equivalence":
        return f"no difference, ± {_value(claim, claim.margin or 0.0, signed=False)}"
    if claim.rule == "bound":
        return f"{claim.sign} {_value(claim, claim.number or 0.0)}"
    if claim.rule == "order":
        size = "sizes in this order" if claim.absolute else "in this order"
        terms = (" ".join(filter(None, _term(each))) for each in claim.terms)
        return f"{size}: {' < '.join(terms)}"
    if claim.sign:
        return "below 0" if claim.sign == "negative" else "above 0"
    return f"signs of {len(claim.rows)} numbers"


def _term(term: object) -> tuple[str, str, str]:
    metric = getattr(term, "metric", "")
    return (
        getattr(term, "comparison", ""),
        getattr(term, "network", ""),
        SHORT.get(metric, metric),
    )


def _describe_ours(answer: Answer) -> str:
    measured, every = len(answer.rows), len(answer.claim.rows)
    part = "" if measured == every else f"{measured} of {every} rows measured: "
    if measured > ROWS_SHOWN_MAX:
        counts = [
            f"{count} {words}"
            for verdict, words in _OF_ROWS.items()
            if (count := sum(each.verdict == verdict for each in answer.rows))
        ]
        return f"{part or f'of {measured} rows: '}{', '.join(counts)}"
    what = "the least difference between neighbours is " if answer.claim.rule == "order" else ""
    several = measured > 1
    return f"{part}{what}" + "; ".join(
        f"{_estimate(answer.claim, each.found)}{_of_row(answer.claim, each.row, several)}"
        for each in answer.rows
    )


def _of_row(claim: Claim, row: Row, several: bool) -> str:
    if not several:
        return ""
    parts = [row.comparison] if len(claim.comparisons) > 1 else []
    parts += [row.network] if len(claim.networks) + len(claim.data) > 1 else []
    parts += [SHORT.get(row.metric, row.metric)] if len(claim.metrics) > 1 else []
    return f" ({' '.join(parts)})" if parts else ""


def _name_place(place: str, count: int) -> str:
    return f" ({place})" if count > 1 else ""


def _estimate(claim: Claim, found: Estimate) -> str:
    if found.value is None:
        return found.reason
    if found.low is None or found.high is None:
        return f"{_value(claim, found.value)} ({found.reason})"
    low, high = (_value(claim, each, unit=False) for each in (found.low, found.high))
    return f"{_value(claim, found.value)} [{low}, {high}]"


def _value(claim: Claim, value: float, *, signed: bool = True, unit: bool = True) -> str:
    estimator = str(claim.estimator)
    is_share = estimator.startswith("share") or estimator in ("row_count", "median_dns_ms")
    sign = "+" if signed and not is_share else ""
    if estimator in _SHARES:
        form = format_number(100 * value, f"{sign}.1f")
        return f"{form} %" if unit else form
    digits = 0 if estimator == "row_count" and float(value).is_integer() else 2
    digits = 0 if abs(value) >= 100 else digits
    text = with_minus(f"{value:{sign},.{digits}f}")
    return f"{text}{_UNITS[estimator]}" if unit else text


def _row_tables(answers: Sequence[Answer]) -> Iterator[str]:
    heads = ("claim", "network or data", "comparison", "metric", "theirs", "ours [95 %]", "verdict")
    rows = []
    for answer in answers:
        for each in answer.rows:
            rows.append((answer.claim.id, *_row_cells(answer.claim, each)))
    return _rows(heads, rows)


def _row_cells(claim: Claim, each: RowAnswer) -> tuple[str, ...]:
    row = each.row
    number = "" if row.number is None else _value(claim, row.number)
    if not number:
        low, high = region_of(claim, row)
        number = "above 0" if low == 0 else "below 0" if high == 0 else ""
    names = (row.network, row.comparison, SHORT.get(row.metric, row.metric))
    return (*names, number, _estimate(claim, each.found), each.verdict)


def _describe_need(claim: Claim) -> str:
    places = claim.data or claim.networks
    shown = ", ".join(places[:ROWS_SHOWN_MAX]) + (", ..." if len(places) > ROWS_SHOWN_MAX else "")
    what = "data sets" if claim.data else "loads"
    if claim.is_of_handshakes:
        what = "handshakes with"
    least = f", {claim.blocks_min} of each" if claim.blocks_min > 2 else ""
    colon = "" if claim.is_of_handshakes else ":"
    return f"{what}{colon} {shown or ', '.join(sorted({t.network for t in claim.terms}))}{least}"


def _fold(head: str, lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    yield "<details>"
    yield f"<summary>{head}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
    yield ""


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


def _count(number: int) -> str:
    return "1 claim" if number == 1 else f"{number} claims"
