"""Every command that writes something ends with where it is, and opens what is a page.

The table of commands is gone over, so that a new command that forgets it is red. What a command
writes shows in its code: what it may come to call, and what its parameters are.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
import vl_convert
from reached import reached
from synthetic_run import write_run
from typer.core import TyperGroup

from eyelevel.analysis.pictures.beside import beside
from eyelevel.cli import main
from eyelevel.cli.finish import end_at, ending_at
from eyelevel.report.shell import shell
from eyelevel.sites.recorded import list_shipped

READ = {
    "against", "ca", "cdn_marks", "directory", "file", "files", "folder", "like", "list_", "log",
    "new", "old", "opt_out", "run", "script", "source", "traces", "trials", "upstream_ca", "users",
    "what",
}  # fmt: skip
"""Parameters that are paths of what a command reads; every other path is written."""
WRITTEN = {"corpus select out_", "fetch directory"}
"""Written although its type is not a path, or its name that of what others read."""
KEEP = {"validate level", "validate stacks"}
"""Without a parameter for it: what is measured is kept for this machine."""
OF_EACH_SITE = {"corpus check", "corpus record"}
"""Pictures are kept of every recording; none of them is the result."""
AT_ONCE = {"path fates", "trace convert", "trace synth"}
"""Over in a moment; the one line that they print names the file."""


@dataclass(frozen=True)
class Command:
    """A line of the table of commands."""

    name: str
    callback: Callable[..., object]
    parameters: tuple[typer.core.TyperArgument | typer.core.TyperOption, ...]

    @property
    def written(self) -> set[str]:
        """Parameters that say where it writes."""
        paths = {
            each.name for each in self.parameters if "Path" in str(each.type_descriptor.annotation)
        }
        asked = {each.name for each in self.parameters if f"{self.name} {each.name}" in WRITTEN}
        return (paths - READ) | asked

    @property
    def flags(self) -> set[str]:
        return {flag for each in self.parameters for flag in each.opts}


def commands() -> Iterator[Command]:
    for name in main.SUBCOMMANDS:
        whole = typer.main.get_command(main.app_with(name))
        assert isinstance(whole, TyperGroup)
        yield from _leaves(whole.commands[name], name)


def _leaves(command, name: str) -> Iterator[Command]:
    if isinstance(command, TyperGroup):
        for inner, each in command.commands.items():
            yield from _leaves(each, f"{name} {inner}")
    else:
        yield Command(name, command.callback, tuple(command.params))


def said_by(words: list[str], monkeypatch, capsys) -> tuple[int, str, str]:
    """A command's exit status, standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["eyelevel", *words])
    return main.main(), *capsys.readouterr()


COMMANDS = list(commands())
PAGES = {shell, beside, vl_convert}
"""What makes a page, a chart or a picture: what a browser shows."""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_what_writes_ends_with_where_it_is(command: Command):
    if (command.written and command.name not in AT_ONCE) or command.name in KEEP:
        ends = {end_at, ending_at.__wrapped__} & reached(command.callback)
        assert ends, f"`{command.name}` writes {command.written}: end it with `end_at`"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_what_makes_a_page_opens_it(command: Command):
    made = PAGES & reached(command.callback)
    if command.name in OF_EACH_SITE:
        assert made == {beside}
        return
    if command.name == "replicate":
        assert made == {vl_convert}, "its page is Markdown, and its charts stand in that"
        return
    assert bool(made) == ("--open" in command.flags), f"`{command.name}`: {made or 'no page'}"


ENDS = {
    "export": (["export", "RUN", "--har", "--out", "OUT"], "exports: OUT"),
    "metrics": (["metrics", "RUN", "--csv", "OUT.csv"], "rows: OUT.csv"),
    "compare": (["compare", "RUN", "RUN", "--junit", "OUT.xml"], "verdicts: OUT.xml"),
    "compare page": (["compare", "RUN", "RUN", "--junit", "OUT.xml", "--page", "OUT.html"],
                     "page: OUT.html"),
    "site synth": (["site", "synth", "--like", "das2014", "--count", "2", "--out", "OUT"],
                   "sites: OUT"),
    "site export": (["site", "export", "dashboard", "--har", "OUT.har"], "export: OUT.har"),
    "corpus info": (["corpus", "info", "SITES", "--csv", "OUT.csv", "--figure", "OUT.svg"],
                    "figure: OUT.svg"),
    "corpus select": (["corpus", "select", "SITES", "--count", "1", "--out", "OUT.txt"],
                      "sites: OUT.txt"),
}  # fmt: skip


SITES = str(next(iter(list_shipped().values())).parent)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("run")
    write_run(directory)
    return str(directory)


@pytest.mark.parametrize(("words", "end"), ENDS.values(), ids=ENDS)
def test_the_last_line_is_where_the_result_is(
    words: list[str], end: str, run: str, tmp_path, monkeypatch, capsys
):
    places = {"OUT": str(tmp_path / "out"), "RUN": run, "SITES": SITES}

    def placed(text: str) -> str:
        for name, place in places.items():
            text = text.replace(name, place)
        return text

    status, said, errors = said_by([*map(placed, words)], monkeypatch, capsys)
    assert status in (0, 3), errors
    assert said.splitlines()[-1] == placed(end)
    what, _, place = placed(end).partition(": ")
    assert Path(place).exists(), what


def test_for_machines_the_place_is_beside_the_json(tmp_path, monkeypatch, capsys):
    out = tmp_path / "a.txt"
    words = ["corpus", "select", SITES, "--count", "1", "--out", str(out), "--json"]
    status, said, errors = said_by(words, monkeypatch, capsys)
    assert status == 0 and json.loads(said)["out"] == str(out)
    assert errors.splitlines()[-1] == f"sites: {out}"


@pytest.mark.parametrize(
    "words",
    [
        ["site", "check", "dashboard"],
        ["corpus", "info", "SITES"],
        ["probe", "report", "rows"],
        ["compare", "old", "new"],
        ["validate", "level"],
    ],
    ids=" ".join,
)
def test_nothing_is_opened_that_is_not_written(words: list[str], monkeypatch, capsys):
    status, said, errors = said_by([*words, "--open"], monkeypatch, capsys)
    assert (status, said) == (2, "") and "--open opens the" in errors and "say where" in errors
