"""`scripts/test`: which command a path becomes, and when a lane with failed tests has passed."""

import os
import shutil
import subprocess
import sys
import threading

import pytest
from repository import ROOT

from scripts.testing import mutations, run
from scripts.testing.mutations import read_mutations
from scripts.testing.run import Lane, Runner
from scripts.testing.select import command_of

FAILS_ONCE = """
from pathlib import Path
def test_it():
    place = Path(__file__).with_name("failed-before")
    failed_before = place.exists()
    place.touch()
    assert failed_before
def test_other(): pass
"""


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        ("tests/scripts/test_testing.py::test_x", ["tests/scripts/test_testing.py::test_x"]),
        ("crates/link", ["--package=eyelevel-link"]),
        ("crates/link/src/queue/red.rs", ["--filterset=test(/^queue::red/)"]),
        ("crates/link/src/queue/mod.rs::x", ["--filterset=test(/^queue::x/)"]),
        ("crates/path/tests/stop.rs", ["--package=eyelevel-path", "--test=stop"]),
    ],
)
def test_a_path_becomes_a_command(selection, words):
    assert command_of(selection)[-len(words) :] == words


@pytest.mark.parametrize(
    ("selection", "remedy"), [("tests/nowhere.py", "give its path"), ("docs", "tests are in")]
)
def test_a_path_without_tests_is_refused_with_a_remedy(selection, remedy):
    with pytest.raises(ValueError, match=remedy):
        command_of(selection)


@pytest.mark.parametrize(
    ("text", "passes_alone"),
    [(FAILS_ONCE, True), ("def test_it(): assert False", False), ("import nowhere", False)],
)
def test_a_lane_passes_if_its_failed_tests_pass_alone(tmp_path, monkeypatch, text, passes_alone):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "OUT", tmp_path)
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    table = f"--durations-csv={tmp_path / 'some.csv'}"
    runner, lane = Runner(), Lane("some", ((*run.PYTEST, "--quiet", table),))
    runner.run(lane)
    assert runner.has_failed(lane)
    assert runner.repeat_alone(lane) is passes_alone
    assert runner.has_failed(lane) is not passes_alone


@pytest.mark.parametrize(
    ("mark", "stolen_ticks", "outcome"),
    [("alone", 10, "skipped"), ("alone", 1, "failed"), ("full", 10, "failed")],
)
def test_a_failed_test_of_times_shows_nothing_on_a_stolen_processor(
    tmp_path, mark, stolen_ticks, outcome
):
    text = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    before, after = [0] * 8, [90, 0, 0, 0, 0, 0, 0, stolen_ticks]
    readings = f"_processor_ticks = iter([{before}, *[{after}] * 3]).__next__\n"
    (tmp_path / "conftest.py").write_text(f"{text}\n\n{readings}", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(
        f"import pytest\n@pytest.mark.{mark}\ndef test_it(): assert False\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-W", "ignore", tmp_path],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"1 {outcome}" in done.stdout, done.stdout


def test_an_interrupted_lane_starts_no_further_command(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "OUT", tmp_path)
    runner = Runner()
    ready, begun = tmp_path / "ready", tmp_path / "begun"
    os.mkfifo(ready)
    # By its default action, since Python would raise after the pause what came just before it.
    dies = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)"
    waits = f"{dies}; open({str(ready)!r}, 'w').close(); signal.pause()"
    lane = Lane("some", ((sys.executable, "-c", waits), ("touch", str(begun))))
    thread = threading.Thread(target=runner.run, args=(lane,))
    thread.start()
    ready.read_bytes()  # waits until the first command runs
    runner.interrupt()
    thread.join()
    assert not begun.exists() and runner.has_failed(lane)


@pytest.mark.parametrize("mutation", read_mutations(), ids=lambda mutation: mutation["name"])
def test_a_mutation_has_one_place_to_be_planted_in(mutation):
    """One that no longer applies would hold nothing, and nothing but the long run would show it."""
    assert (ROOT / mutation["file"]).read_text(encoding="utf-8").count(mutation["find"]) == 1
    assert command_of(mutation["test"])
    # Only a crate's own tests compile it; others run the binary, which `binary` builds anew.
    is_compiled = mutation["test"].startswith("crates/") or mutation.get("binary", False)
    assert is_compiled or not mutation["file"].startswith("crates/")


def test_a_mutation_that_turned_red_is_planted_again_only_after_a_change(tmp_path, monkeypatch):
    monkeypatch.setattr(mutations, "COPY", tmp_path)
    monkeypatch.setattr(mutations, "RED", tmp_path / "red.csv")
    (tmp_path / "code.py").write_text("a = 1\n", encoding="utf-8")
    entry = {"name": "a is 2", "file": "code.py", "find": "1", "replace": "2"}
    entry |= {"test": "tests/test_code.py::test_a", "in": "test"}
    digest = mutations.digest_mutation(entry, tmp_path)
    mutations.keep_red(entry, 1.5)
    assert mutations.read_red() == {digest}
    for changed in ("code.py", "tests/test_code.py"):
        place = tmp_path / changed
        place.parent.mkdir(exist_ok=True)
        place.write_text("a = 3\n", encoding="utf-8")
        assert mutations.digest_mutation(entry, tmp_path) != digest
        digest = mutations.digest_mutation(entry, tmp_path)
    assert mutations.digest_mutation(entry | {"replace": "4"}, tmp_path) != digest
