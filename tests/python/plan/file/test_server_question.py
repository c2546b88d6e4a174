"""The plan of a question about a server."""

import pytest

from eyelevel.analysis.gains.level_distances import find_squares
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.server_question import ComparedServer, name_of_command, server_plan

SITE = "synthetic:objects=3,object_bytes=3000,origins=1"


def test_four_stacks_with_the_kernel_settings_of_the_level_ones() -> None:
    asked = ComparedServer("mine", ("/bin/sh", "serve.sh"), ("/srv",))
    plan = parse_plan(server_plan(asked, [SITE], ["lte"], 20), "server")
    assert plan.stop is not None
    (square,) = find_squares(plan.comparisons)
    assert square.stacks == ("mine-h3@external", "mine-h2@external", "quic", "tcp+")
    assert str(plan.comparisons[0]) == "mine-h3@external against mine-h2@external"
    stacks = {stack.name: stack for stack in plan.stacks}
    served = stacks["mine-h2@external"].external_server
    assert served is not None
    assert (served.command, served.paths) == (("/bin/sh", "serve.sh"), ("/srv",))
    windows = {name: stack.initial_window_packets for name, stack in stacks.items()}
    assert set(windows.values()) == {32}


def test_as_deployed_the_server_has_the_kernels_own_settings() -> None:
    asked = ComparedServer("mine", ("serve",), is_as_deployed=True)
    plan = parse_plan(server_plan(asked, [SITE], ["lte"], 20), "server")
    stacks = {stack.name: stack for stack in plan.stacks}
    assert stacks["tcp+"].initial_window_packets == 32
    assert stacks["mine-h2@external"].initial_window_packets == 10
    assert stacks["mine-h2@external"].receive_window_bytes is None


@pytest.mark.parametrize(("version", "level"), [("h2", "tcp+"), ("h3", "quic")])
def test_one_protocol_is_compared_with_its_level_stack(version: str, level: str) -> None:
    asked = ComparedServer("mine", ("serve",), versions=(version,))  # type: ignore[arg-type]
    plan = parse_plan(server_plan(asked, [SITE], ["lte"], 20), "server")
    assert [str(each) for each in plan.comparisons] == [
        f"mine-{version}@external against {level}",
        "quic against tcp+",
    ]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("env", "NGINX=/opt/nginx", "/srv/my nginx.sh"), "my-nginx"),
        ((".venv/bin/python", "serve/h3.py"), "h3"),
        (("env", "A=1"), "server"),
    ],
)
def test_a_command_names_its_server(command: tuple[str, ...], name: str) -> None:
    assert name_of_command(command) == name
