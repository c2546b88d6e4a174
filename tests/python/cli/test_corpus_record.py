"""`corpus record`: what an earlier call recorded is checked, too, if that call did not."""

import shutil

from labs import CORPUS
from typer.testing import CliRunner

from eyelevel.cli.corpus.commands import app
from eyelevel.sites.corpora.checks import Check
from eyelevel.sites.corpora.ledger import Entry, Ledger

URLS = ("https://plain.example/", "https://blog.example/", "https://gone.example/")


def test_a_page_that_is_passed_over_is_checked_if_it_was_not(tmp_path, monkeypatch):
    """Of an earlier call that was interrupted within its check, or had `--loads 0`."""
    out, pages = tmp_path / "out", tmp_path / "pages.txt"
    out.mkdir()
    pages.write_text("\n".join(URLS))
    ledger = Ledger(out)
    for name, url in zip(("plain", "blog"), URLS, strict=False):
        shutil.copy(CORPUS / f"{name}.wacz", out)
        ledger.put(Entry(name, url, "recorded"))
    ledger.put(Entry("gone", URLS[2], "failed", "no such host"))
    asked = []

    def check_member(member, folder, loads):
        asked.append((member.name, loads))
        return Check(member.name, "ab", loads, 0, "it is blank" * (member.name == "blog")), False

    monkeypatch.setattr("eyelevel.cli.corpus.record.check_member", check_member)
    given = ["record", str(pages), "--out", str(out)]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    assert asked == [("plain", 3), ("blog", 3)]
    said = " ".join(done.output.split())
    assert f"{URLS[1]}: recorded, but not fit to be measured: it is blank" in said
    asked.clear()
    CliRunner().invoke(app, [*given, "--loads", "0"])
    assert asked == []
