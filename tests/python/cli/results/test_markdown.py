"""A report's answer as Markdown, for a comment on a pull request."""

import pytest
from synthetic_run import read_run

from eyelevel.cli.results.markdown import MARKER, escape, markdown
from eyelevel.report.page import summary_of

TEXT = """\
sites = ["startup"]
networks = ["dsl"]
stacks = ["quic"]
variants = [{ name = "main" }, { name = "pr" }]
reference = "main"
blocks = 8
"""


def test_a_comment_has_headline_changes_noise_and_the_reports_address(tmp_path):
    results = read_run(tmp_path, text=TEXT)
    found = summary_of(results)
    text = markdown(results, "https://ci.example/7")
    assert text.startswith(f"{MARKER}\n\n**{escape(found['headline'])}**\n")
    for sentence in (*found["answer"], *found["warnings"]):
        assert f"- {escape(sentence)}\n" in text
    assert "| requests |" in text and "against itself: main " in text
    assert "](https://ci.example/7)" in text


@pytest.mark.parametrize(
    "text",
    ["<img src=x onerror=y>", "[x](javascript:y)", "@everyone", "a|b", "`x`", "#1", "a\n- b"],
)
def test_text_of_pages_has_no_meaning_in_a_comment(text):
    escaped = escape(text)
    assert "\n" not in escaped
    for sign in "<>[]@|`#":
        assert escaped.count(sign) == escaped.count(f"\\{sign}") == text.count(sign)
