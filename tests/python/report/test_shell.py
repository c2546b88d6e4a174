"""The policy of every page names exactly what stands in it."""

import base64
import hashlib
import re

import pytest

from eyelevel.report.html import Markup
from eyelevel.report.shell import shell

POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


@pytest.fixture(scope="module")
def text():
    return shell("title", Markup("<main>what is said</main>"), {"specs": {}}, "probe.js")


def directives(text):
    (policy,) = POLICY.findall(text)
    return dict(each.strip().split(" ", 1) for each in policy.split(";"))


def digest_of(content):
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def test_nothing_is_allowed_but_what_the_page_holds(text):
    assert "unsafe-" not in POLICY.findall(text)[0]
    allowed = directives(text)
    assert allowed.keys() == {
        "default-src", "base-uri", "form-action", "img-src", "style-src", "script-src",
    }  # fmt: skip
    for name in ("default-src", "base-uri", "form-action"):
        assert allowed[name] == "'none'"
    assert allowed["img-src"] == "data:"


@pytest.mark.parametrize(
    ("element", "directive"), [("script", "script-src"), ("style", "style-src")]
)
def test_each_script_and_style_is_named_by_its_digest(text, element, directive):
    found = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
    assert found and directives(text)[directive].split() == [digest_of(each) for each in found]


def test_the_policy_comes_before_all_that_it_is_about(text):
    assert text.index("Content-Security-Policy") < min(text.index("<style"), text.index("<script"))


def test_a_parser_changes_no_byte_of_what_was_digested(text):
    # HTML reads a carriage return as a line feed, and a zero byte as another character.
    assert "\r" not in text and "\0" not in text
