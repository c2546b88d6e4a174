"""The first screen: the question, the answer, what it looks like, and what it rests on."""

from collections.abc import Sequence

from eyelevel.analysis.answers.sentences import Answer, answers
from eyelevel.analysis.study import Contents
from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.plan.stacks import stack_in_words
from eyelevel.report.first_screen.changed_since import Warning
from eyelevel.report.first_screen.filmstrips import first_pair
from eyelevel.report.first_screen.marks import marks
from eyelevel.report.first_screen.warnings import of_answer, said_first, warnings
from eyelevel.report.html import Markup, element, join
from eyelevel.report.page_data import PageData

STACKS_TOLD_MAX = 6
"""More names than that are a study's, whose reader has its settings below."""


def opening(contents: Contents, data: PageData) -> Markup:
    """Question, answer in a sentence a comparison and network, the typical pair, three marks."""
    return element(
        "header",
        element("p", "eyelevel report", class_="eyebrow"),
        element("h1", contents.plan["title"] or "How do the stacks compare?"),
        *map(_warning, said_first(contents)),
        *(_answer(contents, sentence) for sentence in answers(contents)),
        *map(_limit, of_answer(contents)),
        _stacks(contents.plan["stacks"]),
        marks(contents),
        first_pair(contents, data),
    )


def opening_json(contents: Contents) -> JsonObject:
    """The same for machines."""
    return {
        "answer": list(map(str, answers(contents))),
        "stopped": contents.stopped["reason"] if contents.stopped else None,
        "unfinished": contents.unfinished or None,
        "warnings": [f"{head} {text}" for head, text in warnings(contents)],
    }


def _stacks(stacks: Sequence[JsonMapping]) -> Markup:
    """What the names stand for: who is sent a report may never have seen them."""
    if len(stacks) > STACKS_TOLD_MAX:
        return Markup("")
    return element("p", "; ".join(map(stack_in_words, stacks)), ".", class_="note")


def _answer(contents: Contents, answer: Answer) -> Markup:
    if contents.unfinished:
        return element("p", str(answer), class_="answer unclear")
    if not answer.rest:
        return element("p", answer.head, class_="answer")
    head = element("strong", answer.head, class_=answer.claim or "open")
    return element("p", head, answer.rest, class_="answer")


def _warning(warning: Warning) -> Markup:
    head, text = warning
    return element("p", element("strong", head), " ", text, class_="warning", role="note")


def _limit(warning: Warning) -> Markup:
    head, text = warning
    return element("p", join([element("strong", head), " ", text]), class_="limit", role="note")
