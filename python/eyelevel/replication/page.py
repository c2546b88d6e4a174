"""Write the page of a text: claim, theirs, ours with its interval, verdict, why it may differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eyelevel.replication.answers import Answer, Answers, RowAnswer
from eyelevel.replication.claims import Claim, FollowUp, Row
from eyelevel.replication.figures import Drawn
from eyelevel.replication.values import SHORT, format_estimate, format_value
from eyelevel.replication.verdicts import region_of

ROWS_SHOWN_MAX = 4
"""The most rows of a claim in the first table; more are folded."""

CELLS_SHOWN_MAX = 60
"""The most cells of a figure's table that is not folded."""

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


def write_page(answers: Answers, measured: Measured | None, figures: Sequence[Drawn] = ()) -> str:
    """Return the page of a text in Markdown; the figures are files beside it (`Drawn.file`)."""
    return "\n".join(_lines(answers, measured, figures)).rstrip() + "\n"


def _lines(answers: Answers, measured: Measured | None, figures: Sequence[Drawn]) -> Iterator[str]:
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
    again = [line for each in answers.again for line in _describe_again(answers, *each)]
    if text.notes or again:
        yield "## Followed up"
        yield ""
        yield from (f"- {each}" for each in (*text.notes, *again))
        yield ""
    if figures:
        yield "## Figures"
        yield ""
        for each in figures:
            yield from _figure(each)
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


def _describe_again(
    answers: Answers, follow_up: FollowUp, found: Sequence[Answer]
) -> Iterator[str]:
    """Return a line for each claim that was measured again with a suspected cause."""
    before = {each.claim.id: each.words for each in answers.measured}
    for each in (each for each in found if each.rows):
        was = before.get(each.claim.id, "not measured")
        yield (
            f"{_name_claim(each.claim)} Again with {follow_up.server} as the server of "
            f"{follow_up.stack} ({follow_up.cause}): theirs {_describe_theirs(each)}, ours "
            f"{_describe_ours(each)}: {each.words}; with our server: {was}."
        )


def _figure(figure: Drawn) -> Iterator[str]:
    yield f"![{figure.alt}]({figure.file})"
    yield ""
    yield f"{figure.title}."
    yield ""
    table = _rows(figure.heads, figure.rows) if figure.heads else ()
    if len(figure.rows) * len(figure.heads) > CELLS_SHOWN_MAX:
        yield from _fold(f"Its numbers: {len(figure.rows)} rows", list(table))
    elif figure.heads:
        yield from table
        yield ""


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
            least, largest = (format_value(claim, edge(numbers.values())) for edge in (min, max))
            return f"{len(numbers)} numbers, {least} to {largest}"
        return ", ".join(
            f"{format_value(claim, number)} ± "
            f"{format_value(claim, claim.margin_of(number), signed=False)}"
            f"{_name_place(place, len(numbers))}"
            for place, number in numbers.items()
        )
    if claim.rule == "equivalence":
        return f"no difference, ± {format_value(claim, claim.margin or 0.0, signed=False)}"
    if claim.rule == "bound":
        return f"{claim.sign} {format_value(claim, claim.number or 0.0)}"
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
        f"{format_estimate(answer.claim, each.found)}{_of_row(answer.claim, each.row, several)}"
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


def _row_tables(answers: Sequence[Answer]) -> Iterator[str]:
    heads = ("claim", "network or data", "comparison", "metric", "theirs", "ours [95 %]", "verdict")
    rows = []
    for answer in answers:
        for each in answer.rows:
            rows.append((answer.claim.id, *_row_cells(answer.claim, each)))
    return _rows(heads, rows)


def _row_cells(claim: Claim, each: RowAnswer) -> tuple[str, ...]:
    row = each.row
    number = "" if row.number is None else format_value(claim, row.number)
    if not number:
        low, high = region_of(claim, row)
        number = "above 0" if low == 0 else "below 0" if high == 0 else ""
    names = (row.network, row.comparison, SHORT.get(row.metric, row.metric))
    return (*names, number, format_estimate(claim, each.found), each.verdict)


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
