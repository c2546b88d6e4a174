"""Lists, tables and checks that were damaged on their way: read, or refused in one line."""

import json
import random

import pytest
from bad_changes import flipped, of_json

from eyelevel.base.errors import ExpectedError
from eyelevel.sites.corpora.checks import Check, keep_check, read_check
from eyelevel.sites.corpora.ledger import FILE, Entry, Ledger
from eyelevel.sites.corpora.members import members
from eyelevel.sites.corpora.pages import name_of_page, read_pages

SEED = 20261123
MUTANTS = 400

LIST = b"""# drawn
plain
blog
./x.wacz
synthetic:objects=3,origins=2
synthetic:like=das2014,site=9
"""
PAGES = b"# top\n1,example.org\nhttps://www.example.org:8443/a?b=c#d\nhttp://[2001:db8::1]/\n\n"


def ledger_bytes(folder):
    """A table of two lines, as it is written."""
    ledger = Ledger(folder)
    ledger.put(Entry("a", "x/a.har", "imported", "", 12))
    ledger.put(Entry("b", "https://b.example/, ü", "failed", 'it said "no", twice'))
    content = (folder / FILE).read_bytes()
    (folder / FILE).unlink()
    return content


def check_bytes(folder):
    """A check, as it is kept."""
    keep_check(folder, Check("a", "ab", 3, 0, "it is blank"), {"page": {"misses": [1, "x"]}})
    return (folder / "a.json").read_bytes()


def read_list(folder, content):
    (folder / "x.wacz").write_bytes(b"")
    (folder / "list.txt").write_bytes(content)
    for member in members(str(folder / "list.txt")):
        assert member.name and member.of_plan


def read_urls(folder, content):
    (folder / "pages.txt").write_bytes(content)
    for url in read_pages(str(folder / "pages.txt")):
        assert url.isprintable() and name_of_page(url, set()).isascii()


def read_ledger(folder, content):
    (folder / FILE).write_bytes(content)
    before = Ledger(folder).entries
    for entry in before.values():
        assert entry.name == entry.name.strip()


def read_kept(folder, content):
    (folder / "a.json").write_bytes(content)
    kept = read_check(folder, "a")
    assert kept is not None and isinstance(kept.reason, str)


CASES = {
    "list": (lambda _: LIST, read_list, flipped),
    "pages": (lambda _: PAGES, read_urls, flipped),
    "table": (ledger_bytes, read_ledger, flipped),
    "check": (check_bytes, read_kept, of_json),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_damaged_is_read_or_refused_in_one_line(name, tmp_path):
    sample_of, read, mutated = CASES[name]
    sample = sample_of(tmp_path)
    read(tmp_path, sample)
    refused = 0
    for number in range(MUTANTS):
        content = mutated(sample, random.Random(f"{SEED} {name} {number}"))
        try:
            read(tmp_path, content)
        except ExpectedError as error:
            refused += 1
            said = str(error)
            assert said.isprintable() and len(said) < 1000, (number, content[:300])
        except Exception as error:
            raise AssertionError(f"{name}, mutant {number} of {SEED}: {content[:500]!r}") from error
    assert refused > MUTANTS / 20


def test_what_is_kept_is_json_that_others_read(tmp_path):
    assert json.loads(check_bytes(tmp_path))["details"] == {"page": {"misses": [1, "x"]}}
