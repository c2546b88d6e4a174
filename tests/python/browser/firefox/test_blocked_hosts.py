"""The list of hosts that Firefox asks nothing of."""

import json
import re
from pathlib import Path

import pytest

from eyelevel.browser.firefox.process import host_expression, url_expression, write_extension


@pytest.mark.parametrize(
    ("host", "url", "blocked"),
    [
        ("a.example", "https://a.example/x", True),
        ("a.example", "http://a.example:8080/", True),
        ("a.example", "https://b.a.example/", False),
        ("a.example", "https://aaexample/", False),
        ("a.example", "https://b.example/?https://a.example/", False),
        ("*.a.example", "wss://c.b.a.example/x", True),
        ("*.a.example", "https://a.example/", False),
        ("*.a.example", "https://b.example/x.a.example/", False),
        ("*.a.example", "https://xa.example/", False),
    ],
)
def test_a_host_is_blocked_and_no_other(host: str, url: str, blocked: bool):
    assert bool(re.match(host_expression(host), url)) is blocked


@pytest.mark.parametrize(
    ("pattern", "url", "blocked"),
    [
        ("*://a.example/*", "https://a.example/x", True),
        ("*://a.example/*", "https://b.example/", False),
        ("*://a.example/x.js", "http://a.example/x.js", True),
        ("*://a.example/x.js", "http://a.example/x.json", False),
        ("*://a.example/x.js?*", "http://a.example/x.js?v=1", True),
        ("*://a.example/x.js", "http://a.example/xAjs", False),
    ],
)
def test_a_url_is_blocked_and_no_other(pattern: str, url: str, blocked: bool):
    assert bool(re.match(url_expression(pattern), url)) is blocked


def test_each_host_has_a_rule_of_its_own(tmp_path: Path):
    write_extension(tmp_path / "extension", ["a.example", "*.b.example"], ["*://c.example/x"])
    rules = json.loads((tmp_path / "extension" / "hosts.json").read_text())
    assert [rule["id"] for rule in rules] == [1, 2, 3]
