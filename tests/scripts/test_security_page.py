"""Each promise of docs/security.md names a test that there is."""

import re

import pytest
from repository import ROOT

_ROW = re.compile(r"^\| (?P<promise>.+?) \| (?P<tested>.*?) \| (?P<rest>.*?) ?\|$")
_TEST = re.compile(r"`((?:tests|crates)/[\w./-]+)::(\w+)`")


def promises() -> list[tuple[str, str]]:
    """Promise and how it is tested, by row of the tables that have both."""
    rows: list[tuple[str, str]] = []
    is_of_promises = False
    for line in (ROOT / "docs/security.md").read_text(encoding="utf-8").splitlines():
        row = _ROW.match(line)
        if row is None:
            is_of_promises = False
        elif row["promise"] == "promise":
            is_of_promises = True
        elif is_of_promises and row["promise"] != "---":
            rows.append((row["promise"], row["tested"]))
    return rows


def test_there_are_promises():
    assert len(promises()) > 10


@pytest.mark.parametrize(("promise", "tested"), promises())
def test_a_promise_names_a_test_that_there_is(promise, tested):
    named = _TEST.findall(tested)
    assert named, f"no test is named of: {promise}"
    for path, name in named:
        code = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"\b(?:def|fn) {name}\(", code), f"{path} has no test {name}"
