"""`eyelevel server`: mistakes end in one line, and recipes are printed."""

import pytest
from typer.testing import CliRunner

from eyelevel.base.errors import PlanError
from eyelevel.cli.server.commands import _pair_of_card, _read_server, _read_stacks, app
from eyelevel.load.servers.recipes import RECIPES
from eyelevel.plan.file.server_question import LEVEL
from eyelevel.plan.stacks import HttpVersion


@pytest.mark.parametrize(
    ("text", "protocols", "message"),
    [
        ("no-such-program --x", "h2,h3", "starting `no-such-program`: there is no such program"),
        ("sh 'open", "h2,h3", "reading the command `sh 'open`: No closing quotation"),
        (" ", "h2,h3", "the command is empty; write one, or a recipe"),
        ("sh x", "h2,h9", "--protocols: unknown protocol `h9`"),
        ("sh x", ",", "--protocols: it names none"),
        ("interop", None, "starting interop: write the server's command: `interop COMMAND`"),
        ("interop no-such-file", None, "starting `no-such-file`: there is no such program"),
    ],
)
def test_a_mistake_is_named_in_one_line(text: str, protocols: str | None, message: str) -> None:
    with pytest.raises(PlanError, match=message.replace("`", ".")) as raised:
        _read_server(text, [], protocols, is_as_deployed=False)
    assert len(raised.value.problems) == 1
    assert "\n" not in raised.value.problems[0]


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_printed_as_it_is(name: str) -> None:
    done = CliRunner().invoke(app, ["recipe", name])
    assert done.exit_code == 0
    assert done.stdout == RECIPES[name].file.read_text("utf-8")


def test_what_follows_a_recipes_name_makes_it_a_command_except_for_the_interop_runners() -> None:
    command = _read_server("sh x", [], None, is_as_deployed=False)
    assert (command.command, command.versions) == (("sh", "x"), ("h2", "h3"))
    interop = _read_server("interop sh x", [], None, is_as_deployed=False)
    assert interop.command == ("/bin/sh", str(RECIPES["interop"].file), "sh", "x")
    assert interop.versions == ("h3",)


@pytest.mark.parametrize("version", ["h2", "h3"])
def test_a_card_compares_with_a_level_stack_that_sends_tickets(version: HttpVersion) -> None:
    level, of_server = _pair_of_card(*_read_stacks("sh x", [], None), version)
    assert (level.name, level.session_tickets) == (LEVEL[version], True)
    assert (of_server.http_version, of_server.is_ours) == (version, False)


@pytest.mark.parametrize("command", ["compare", "check"])
def test_page_loads_of_a_server_of_the_interop_runner_are_not_compared(command: str) -> None:
    done = CliRunner().invoke(app, [command, "interop sh x"])
    assert isinstance(done.exception, PlanError)
    (problem,) = done.exception.problems
    assert "without the recorded fields, codings and status" in problem
    assert "use `eyelevel server bulk`" in problem and "\n" not in problem
