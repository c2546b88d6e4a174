"""A report's answer as Markdown, for a comment on a pull request or a job's summary."""

import re

from eyelevel.analysis.gains.against_itself import noise_sentences
from eyelevel.analysis.study import StudyResults
from eyelevel.report.first_screen.changed_pages import ChangedPage, changed
from eyelevel.report.page import summary_of

MARKER = "<!-- eyelevel -->"
"""The comment by which a later job finds the comment that it replaces."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@])")


def markdown(results: StudyResults, link: str = "") -> str:
    """Return the headline, the answer, what changed, the noise and the warnings.

    `link`: the address of the whole report. Text from pages and plans is escaped.
    """
    findings = summary_of(results)
    parts = [MARKER, f"**{escape(findings['headline'])}**", _list(findings["answer"])]
    parts += [_table(page) for page in changed(results).pages]
    parts.append(_list(noise_sentences(results.against_itself)))
    if findings["warnings"]:
        count = len(findings["warnings"])
        head = f"{count} thing{'' if count == 1 else 's'} to know before you rely on it"
        warnings = _list(findings["warnings"])
        parts.append(f"<details><summary>{head}</summary>\n\n{warnings}\n\n</details>")
    if link:
        parts.append(f"[The report]({link}) has the loads, the pictures and the reasons.")
    return "\n\n".join(filter(None, parts)) + "\n"


def escape(text: str) -> str:
    """Return `text` without meaning to Markdown and HTML, and without mentions of people."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _list(sentences: list[str]) -> str:
    return "\n".join(f"- {escape(sentence)}" for sentence in sentences)


def _table(page: ChangedPage) -> str:
    """Return what changed in a page as a table, and the objects that only one variant requests."""
    rows = [("", *page.columns), *page.rows]
    lines = [f"| {' | '.join(map(escape, row))} |" for row in rows]
    lines.insert(1, "| --- | ---: | ---: | ---: |")
    objects = [f"{head}: {urls}" for head, urls in page.lists]
    text = f"{escape(page.caption)}:\n\n" + "\n".join(lines)
    return f"{text}\n\n{_list(objects)}" if objects else text
