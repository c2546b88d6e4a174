"""`eyelevel corpus` as a user calls it: lines, exits, interruption, `--corpus` of presets."""

import json
import shutil
import subprocess
import sys

import pytest
from in_process import run_command
from labs import CORPUS
from recordings import as_har, as_mahimahi, har_of
from timeouts import TEST_TIMEOUT_S

from eyelevel.sites.corpora.ledger import Ledger

COMMAND = [sys.executable, "-m", "eyelevel.cli.main"]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run_command(*map(str, arguments))


@pytest.fixture
def corpus(tmp_path):
    """A folder of three recordings of others, one of which is none."""
    as_mahimahi(tmp_path / "in" / "plain")
    as_har(tmp_path / "in" / "blog.har", "blog")
    (tmp_path / "in" / "broken.har").write_text("{}")
    return tmp_path / "in"


def test_import_says_what_came_and_what_did_not(corpus, tmp_path):
    done = run("corpus", "import", corpus, "--out", tmp_path / "out")
    assert done.returncode == 0
    said = done.stdout.replace("\n", " ")
    assert "2 of 3 recordings imported, 2 of them now, 1 refused; 0 other files" in said
    assert "\nbroken.har: refused: " in f"\n{done.stderr}"
    told = json.loads(run("corpus", "import", corpus, "--out", tmp_path / "out", "--json").stdout)
    assert (told["imported"], told["imported_now"], told["refused"]) == (2, 0, 1)
    assert list(told["reasons"]) == ["broken.har"] and told["reasons"]["broken.har"]


def test_import_as_json_says_how_many_also_where_there_are_none(tmp_path):
    (tmp_path / "in").mkdir()
    as_har(tmp_path / "in" / "blog.har", "blog")
    out = tmp_path / "out"
    told = json.loads(run("corpus", "import", tmp_path / "in", "--out", out, "--json").stdout)
    assert {key: told[key] for key in ("imported", "imported_now", "refused", "reasons")} == {
        "imported": 1, "imported_now": 1, "refused": 0, "reasons": {},
    }  # fmt: skip


def test_import_with_nothing_to_import_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("x")
    done = run("corpus", "import", tmp_path / "in", "--out", tmp_path / "out")
    assert done.returncode == 2 and "no recording among 1 files" in done.stderr
    assert not (tmp_path / "out").exists()
    done = run("corpus", "import", tmp_path / "in", "--out", tmp_path / "in" / "out")
    assert done.returncode == 2 and "choose one outside" in done.stderr
    (tmp_path / "in" / "x.har").write_text("{}")
    assert run("corpus", "import", tmp_path / "in", "--out", tmp_path / "out").returncode == 1


INTERRUPTED = """
import os, signal, sys
from eyelevel.cli.corpus.importing import Steps
from eyelevel.cli.main import main
ended, count = Steps.end, 0
def end(self, name, **more):
    global count
    ended(self, name, **more)
    count += 1
    if count == 3:
        os.kill(os.getpid(), signal.SIGINT)
Steps.end = end
sys.argv[0] = "eyelevel"
sys.exit(main())
"""


def test_an_interrupted_import_says_how_it_is_gone_on_with(tmp_path):
    as_har(tmp_path / "page.har")
    for number in range(7):
        (tmp_path / "in").mkdir(exist_ok=True)
        shutil.copy(tmp_path / "page.har", tmp_path / "in" / f"{number}.har")
    given = ["corpus", "import", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *given],
        capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr and "Traceback" not in done.stderr
    assert "stopped after 3 of 7: the same command continues where it stopped" in done.stderr
    assert len(Ledger(tmp_path / "out").entries) == 3
    assert not list((tmp_path / "out").glob(".*"))
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").glob("*.wacz")}
    assert len(files) == 3
    done = run(*given)
    assert "7 of 7 recordings imported" in done.stdout.replace("\n", " "), done.stderr
    assert all(file.stat().st_mtime_ns == before for file, before in files.items())


def test_info_writes_rows_a_figure_and_the_table(corpus, tmp_path):
    out = tmp_path / "out"
    run("corpus", "import", corpus, "--out", out)
    done = run("corpus", "info", out, "--csv", tmp_path / "x.csv", "--figure", tmp_path / "x.svg")
    assert done.returncode == 0, done.stderr
    for row in ("server addresses", "object size", "dependency depth", "1 to 66, median 22"):
        assert row in done.stdout
    assert (tmp_path / "x.csv").read_text().startswith("site,page,server_addresses,origins,objects")
    first = next(out.glob("*.wacz"))
    first.rename(out / "=cmd|x!A1.wacz")
    assert run("corpus", "info", out, "--csv", tmp_path / "y.csv").returncode == 0
    assert "\n'=cmd|x!A1,http" in (tmp_path / "y.csv").read_text()
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<svg")
    assert "unknown format" in run("corpus", "info", out, "--figure", "x.bmp").stderr


def test_info_names_what_it_passes_over(tmp_path):
    folder = tmp_path / "sites"
    for name in ("b", "a"):
        as_mahimahi(folder / "mahimahi" / name)
    as_har(folder / "blog.har", "blog")
    shutil.copy(CORPUS / "plain.wacz", folder / "plain.wacz")
    done = run("corpus", "info", folder, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [site["site"] for site in told["sites"]] == ["plain"]
    assert told["passed_over"] == ["blog.har", "mahimahi/a", "mahimahi/b"]
    said = done.stderr.replace("\n", " ")
    assert "other tools recorded them: blog.har, mahimahi/a, mahimahi/b; import them" in said


def test_info_counts_pages_over_https_and_says_what_was_not_recorded(tmp_path):
    sites, taken = tmp_path / "in", tmp_path / "out"
    sites.mkdir()
    shutil.copy(CORPUS / "plain.wacz", sites)
    har_of(sites / "clear.har", "http://clear.example/")
    har_of(sites / "mixed.har", "https://mixed.example/")
    assert run("corpus", "import", sites, "--out", taken).returncode == 0
    done = run("corpus", "info", taken)
    said = " ".join(done.stdout.split())
    assert "pages whose own address is https: 2 of 3, Das 2014 43 of 500" in said
    assert "page over https" not in said
    assert "2 of 3 sites have no recorded server addresses" in said
    told = json.loads(run("corpus", "info", taken, "--json").stdout)
    assert told["secure_pages"] == 2
    assert [site["server_addresses"] for site in told["sites"]] == [None, None, 1]


def test_info_tells_sites_apart_whose_names_differ_in_their_ends(tmp_path):
    names = [f"{'a-long-name-' * 4}{end}" for end in ("left", "right")]
    for name, site in zip(names, ("plain", "blog"), strict=True):
        shutil.copy(CORPUS / f"{site}.wacz", tmp_path / f"{name}.wacz")
    done = run("corpus", "info", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout and "left" in done.stdout and "right" in done.stdout


def test_a_preset_takes_a_corpus_and_a_selection(tmp_path):
    sites = tmp_path / "sites"
    sites.mkdir()
    for name in ("plain", "blog", "article", "[x]"):
        shutil.copy(CORPUS / f"{name if name != '[x]' else 'api'}.wacz", sites / f"{name}.wacz")
    done = run("plan", "check", "wolsing-2019", "--corpus", sites)
    assert done.returncode == 0 and ": 4 sites x 5 networks" in done.stdout, done.stderr
    drawn = tmp_path / "drawn.txt"
    selected = run("corpus", "select", sites, "--count", 2, "--by", "body_bytes", "--out", drawn)
    assert selected.returncode == 0, selected.stderr
    assert drawn.read_text().startswith("# 2 of 4 sites of")
    done = run("plan", "check", "wolsing-2019", "--corpus", drawn)
    assert done.returncode == 0 and ": 2 sites x" in done.stdout.replace("loads: ", ": "), (
        done.stderr
    )
    again = run("corpus", "select", sites, "--count", 2, "--out", drawn)
    assert again.returncode == 2 and "already exists" in again.stderr


def test_a_check_without_loads_finds_nothing_fit(tmp_path):
    sites = tmp_path / "sites"
    sites.mkdir()
    shutil.copy(CORPUS / "plain.wacz", sites)
    done = run("corpus", "check", sites, "--loads", 0)
    assert done.returncode == 0, done.stderr
    said = done.stdout.replace("\n", " ")
    assert "0 of 1 recordings are fit to be measured; 1 came back as recorded, but were" in said
    told = json.loads(run("corpus", "check", sites, "--loads", 0, "--json").stdout)
    assert (told["fit"], told["not_fit"], told["too_few_loads"]) == ([], {}, ["plain"])
    drawn = ["corpus", "select", sites, "--count", 1, "--out", tmp_path / "x.txt"]
    done = run(*drawn, "--fit")
    assert done.returncode == 2 and "were loaded less than 3 times" in done.stderr
    assert run(*drawn).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "check", "quickstart", "--corpus", "das204"), "did you mean `das2014`"),
        (("plan", "check", "quickstart", "--corpus", "wolsing-2019"), "is a list of pages"),
        (("corpus", "record", "nothing.txt", "--out", "x"), "there is no list `nothing.txt`"),
        (("corpus", "check", "nothing", "--loads", "0"), "there is no corpus"),
        (("corpus", "check", "das2014", "--loads", "11"), "--loads: give at most 10"),
        (("corpus", "import", "nothing", "--out", "x"), "is not a folder"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments, said, tmp_path):
    done = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_plan_file_takes_no_corpus(tmp_path):
    (tmp_path / "plan.toml").write_text("title = 'x'\n")
    done = run("plan", "check", tmp_path / "plan.toml", "--corpus", "single-origin")
    assert done.returncode == 2 and 'sites = ["FOLDER/"]' in done.stderr


def test_corpora_are_listed():
    rows = {row["name"]: row for row in json.loads(run("list", "corpora", "--json").stdout)}
    assert rows["das2014"]["sites"] == rows["das-2014"]["sites"] == 500
    assert rows["wolsing-2019"]["sites"] == 38 and len(rows["wolsing-2019"]["named"]) == 4
