"""Completion in real shells, and the words that they are told."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.cli import main
from eyelevel.cli.completion import answer, written
from eyelevel.cli.completion.completion import SCRIPTS, Shell

ASK_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_eyelevel && printf '%s\\n' "${COMPREPLY[@]}"
"""
"""As bash calls it when the key is pressed behind the last word."""

ASK_ZSH = """
compdef() { }
_describe() { for each in $found; do printf '%s\\n' "${each%%:*}"; done }
_files() { print FILES }
source $1; shift
words=("$@"); CURRENT=$#; _eyelevel
"""


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """The command on a path of its own, as the script of the package starts it."""
    file = tmp_path / "bin" / "eyelevel"
    file.parent.mkdir()
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -m eyelevel "$@"\n')
    file.chmod(0o755)
    for shell, text in SCRIPTS.items():
        (tmp_path / shell.value).write_text(text)
    return file


def run(words: list[str], command: Path) -> list[str]:
    path = f"{command.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=TEST_TIMEOUT_S,
        env={**os.environ, "PATH": path}, check=False,
    )  # fmt: skip
    assert done.stderr == "", done.stderr
    return done.stdout.splitlines()


def asked(shell: str, command: Path, *line: str) -> set[str]:
    """What a shell offers for the last word of a line."""
    script = str(command.parent.parent / shell)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here (apt-get install {shell})")
    if shell == "fish":
        text = " ".join(line)
        found = run(["fish", "-N", "-c", f"source {script}; complete -C '{text}'"], command)
        return {each.partition("\t")[0] for each in found}
    if shell == "zsh":
        return set(run(["zsh", "-f", "-c", ASK_ZSH, "zsh", script, *line], command))
    return set(run(["bash", "--norc", "-c", ASK_BASH, "bash", script, *line], command)) - {""}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_options_and_names(shell: str, command: Path):
    def offered(*line: str) -> set[str]:
        return asked(shell, command, "eyelevel", *line)

    assert offered("rer") == {"rerun"}
    assert {"run", "ask", "demo", "path"} <= offered("")
    assert offered("validate", "l") == {"level", "live"}
    assert offered("ask", "agency", "--netw") == {"--network", "--networks"}
    assert {"agency", "admin"} <= offered("load", "a")
    assert {"das-2014", "wolsing-2019", "quickstart"} <= offered("run", "")
    assert offered("load", "agency", "--stack", "quic+0") == {"quic+0rtt"}
    assert "dsl,lte" in offered("ask", "agency", "--networks", "dsl,l")
    assert offered("load", "agency", "--visit", "re") == {"repeat"}
    assert {"--rtt", "--down", "--log"} <= offered("path", "--")
    assert "speed_index_ms" in offered("compare", "old", "new", "--metric", "speed")


def test_bash_divides_a_word_at_its_sign_of_equality(command: Path):
    line = ("eyelevel", "load", "agency", "--stack", "=")
    assert asked("bash", command, *line, "quic+0") == {"quic+0rtt"}
    assert {"http1", "quic"} <= asked("bash", command, *line)


@pytest.mark.parametrize(
    ("before", "current", "expected"),
    [
        (["run", "plan.toml", "--out"], "re", []),  # files are the shell's
        (["load", "agency", "--seed"], "", []),
        (["load", "agency"], "", []),
        (["load", "./"], "./no", []),
        (["nonsense"], "x", []),
        (["path", "--", "cur"], "--", []),
        (["load", "agency", "--stack=quic"], "--stack=quic+0", ["--stack=quic+0rtt"]),
        (["--"], "--v", ["--version"]),
        (["explain", "stacks", "tcp"], "quic+0", ["quic+0rtt"]),
        (["list"], "pla", ["plans"]),
        (["corpus", "check"], "das-s", None),
    ],
)
def test_what_may_stand_there(before: list[str], current: str, expected: list[str] | None):
    lines = answer.answer_completion([str(len(before) + 1), *before, current]).splitlines()
    found = [each.partition("\t")[0] for each in lines]
    assert found == expected if expected is not None else all(w.startswith(current) for w in found)


@pytest.mark.parametrize("question", [[], ["0"], ["-1"], ["x", "y"], ["9"], ["9", "load"]])
def test_nonsense_is_answered_by_a_list_or_nothing(question: list[str]):
    assert isinstance(answer.answer_completion(question), str)


def test_each_name_that_is_said_to_be_known_is_a_parameter_of_a_command():
    found = set()

    def walk(node: dict, path: str) -> None:
        kinds = {kind.removesuffix(",") for kind in written.NAMES.values()}
        takes = [kind for kind, _ in node.get("options", {}).values()]
        found.update(kind for kind in [*takes, *node.get("arguments", [])] if kind)
        for name, inner in node.get("commands", {}).items():
            walk(inner, f"{path} {name}")
        assert kinds <= set(json.loads(written.FILE.read_text("utf-8"))["names"])

    for name, node in written.words()["commands"].items():
        walk(node, name)
    assert {kind.removesuffix("...") for kind in found} >= set(written.NAMES.values())


def test_a_key_waits_for_nothing_slow():
    code = (
        "import runpy, sys; sys.argv = ['eyelevel', 'completion', 'words', '2', 'load', 'a']\n"
        "try: runpy.run_module('eyelevel', run_name='__main__')\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
    )
    assert "agency" in done.stdout
    assert not {"typer", "rich", "pydantic", "numpy", "polars"} & set(done.stderr.split())


def test_without_a_shell_it_is_that_of_the_caller(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["eyelevel", "completion"])
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert main.main() == 0 and capsys.readouterr().out == SCRIPTS[Shell.zsh]
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert main.main() == 2
    assert "`tcsh`: there are scripts for bash, zsh, fish; name one" in capsys.readouterr().err
