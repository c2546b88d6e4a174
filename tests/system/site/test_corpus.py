"""A list of pages of a lab's servers becomes a corpus, is gone on with, checked and drawn from."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from generated_site import MAIN, WWW, pack_generated_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.sites.corpora.checks import read_check
from eyelevel.sites.corpora.ledger import Ledger

GONE = "https://nothing.example/"
MISSING = f"{WWW}/there-is-no-such-page"


def corpus(*arguments: object, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*prefix, sys.executable, "-m", "eyelevel.cli.main", "corpus", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )


@pytest.fixture
def recorded(new_lab, tmp_path):
    """What two calls said, the second of which goes on with the first's folder, and the folder."""
    pages, out, authority = tmp_path / "pages.txt", tmp_path / "out", tmp_path / "ca.pem"
    pages.write_text(f"# Of one lab.\n{MAIN}\n{GONE}\nwww.made.example\n{MISSING}\n")
    said = []
    with new_lab(site=pack_generated_site(tmp_path)) as lab:
        authority.write_text(lab.ready.ca_certificate, encoding="ascii")
        given = ["record", pages, "--out", out, "--pause", 0, "--upstream-ca", authority]
        given += ["--allow", "192.0.2.0/24", "--allow", "198.51.100.0/24"]
        prefix = tuple(lab.command_prefix)
        said.append(corpus(*given, "--first", 1, "--loads", 0, prefix=prefix))
        first = (out / "made.example.wacz").stat().st_mtime_ns
        said.append(corpus(*given, "--loads", 0, prefix=prefix))
    assert (out / "made.example.wacz").stat().st_mtime_ns == first, "it was passed over"
    return said, out


def test_a_list_becomes_a_corpus_that_is_gone_on_with_and_checked(recorded, tmp_path):
    (first, second), out = recorded
    assert first.returncode == 0, first.stderr
    assert "1 of 1 pages recorded, 0 failed" in first.stdout
    assert second.returncode == 0, second.stderr
    assert "2 of 4 pages recorded, 2 failed" in second.stdout.replace("\n", " ")
    entries = Ledger(out).entries
    assert {url: entry.outcome for url, entry in entries.items()} == {
        MAIN: "recorded", GONE: "failed", f"{WWW}/": "recorded", MISSING: "failed",
    }  # fmt: skip
    assert "nothing.example" in entries[GONE].reason
    assert "answered 404" in entries[MISSING].reason
    assert sorted(file.name for file in out.glob("*.wacz")) == [
        "made.example.wacz", "www.made.example.wacz",
    ]  # fmt: skip

    shown = corpus("info", out, "--json")
    assert [site["server_addresses"] for site in json.loads(shown.stdout)["sites"]] == [4, 4]

    (out / "broken.wacz").write_text("no recording")
    checked = corpus("check", out, "--loads", 3)
    assert checked.returncode == 1 and "2 of 3 recordings are fit" in checked.stdout
    assert "broken: not fit" in checked.stderr.replace("\n", " ")
    kept = read_check(out / "checks", "made.example")
    assert kept is not None and kept.loads == 3 and not kept.reason
    assert (out / "checks" / "made.example.png").is_file()
    again = corpus("check", out, "--loads", 3)
    assert again.stdout == checked.stdout
    assert read_check(out / "checks", "made.example") == kept

    drawn = corpus("select", out, "--fit", "--count", 1, "--out", f"{tmp_path}/drawn/")
    assert drawn.returncode == 0, drawn.stderr
    assert len(list(Path(tmp_path / "drawn").glob("*.wacz"))) == 1
