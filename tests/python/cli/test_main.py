"""The command's entry: what is said of each subcommand, and what it costs to say it."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.cli import main

SLOW = {"altair", "matplotlib", "numpy", "pandas", "polars", "scipy", "statsmodels"}
"""None of them is needed to say what there is, and each takes longer to import than to say it."""


@pytest.mark.parametrize("place", main.SUBCOMMANDS.values())
def test_the_list_says_of_a_subcommand_what_it_says_of_itself(place: str):
    module = import_module(f"eyelevel.cli.{place}")
    group = getattr(module, "app", None)
    command = getattr(module, place.rpartition(".")[2], None)
    said = group.info.help if group is not None else inspect.getdoc(command).split("\n\n")[0]
    assert said and main._summary(place) == said


def test_a_file_without_the_subcommand_is_refused():
    with pytest.raises(AssertionError, match="neither an `app` nor the command"):
        main._summary("values")


@pytest.mark.parametrize(
    "words", [[], ["--help"], ["--version"], ["list", "networks"], ["list", "sites"]], ids=" ".join
)
def test_what_is_asked_often_imports_nothing_slow(words: list[str]):
    code = (
        "import sys; from eyelevel.cli.main import main; status = main(); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0 and done.stdout
    assert not SLOW & set(done.stderr.split())


@pytest.mark.parametrize("words", [["-h", "list"], ["list", "-h"], ["--", "list", "networks"]])
def test_the_subcommand_is_found_behind_an_option(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["eyelevel", *words])
    assert main.main() == 0
    printed = capsys.readouterr().out
    assert "networks" in printed and ("doctor" in printed) == (words[0] == "-h")


@pytest.mark.parametrize(
    ("words", "around", "said"),
    [
        (["load", "-h"], True, True),
        (["load", "-h"], False, False),
        (["list", "-h"], True, False),
        (["load", "--live", "-h"], True, False),
    ],
)
def test_a_path_around_a_command_with_paths_of_its_own_is_said_to_change_nothing(
    words: list[str],
    around: bool,
    said: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(sys, "argv", ["eyelevel", *words])
    monkeypatch.delenv("EYELEVEL_FAR", raising=False)
    if around:
        monkeypatch.setenv("EYELEVEL_FAR", "10.0.0.2")
    assert main.main() == 0
    assert (main.NOT_FELT in capsys.readouterr().err.replace("\n", " ")) == said
