"""Which servers are put beside one another."""

import shutil
import sys
from pathlib import Path

import pytest

from eyelevel.base.errors import ProbeError
from eyelevel.lab.confinement import is_of_system
from eyelevel.load.servers.known import (
    INTEROP,
    PROGRAMS,
    RECIPES_FOLDER,
    find_start,
    parse_command,
    parse_servers,
)
from eyelevel.load.servers.visits import in_order


@pytest.fixture(autouse=True)
def without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for program in PROGRAMS.values():
        monkeypatch.delenv(program.variable, raising=False)


def test_ours_may_be_there_twice_and_behind_a_longer_path() -> None:
    served, missing = parse_servers("ours, ours,ours+5ms,ours+0.5ms")
    assert [each.name for each in served] == ["ours", "ours (2)", "ours+5ms", "ours+0.5ms"]
    assert [each.delay_ms for each in served] == [0, 0, 5, 0.5]
    assert missing == {}
    assert served[0].stack("tls1.2").tls_version == "1.2"
    assert served[0].stack("quic").over_quic


def test_one_that_is_not_installed_is_told_with_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    served, missing = parse_servers("ours,caddy,s_server")
    assert [each.name for each in served] == ["ours"]
    assert missing == {"caddy": "apt-get install caddy", "s_server": "apt-get install openssl"}


@pytest.mark.parametrize(
    "text", ["apache", "nginx+retry", "ours+retry", "ours+5s", "ours+-5ms", "ours+1e3ms", "\x1b[1m"]
)
def test_another_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(
        ProbeError, match="is no server that is known here: choose among nginx"
    ) as e:
        parse_servers(f"ours,{text}")
    assert "\x1b" not in str(e.value) and len(str(e.value).splitlines()) == 1


def test_any_command_is_a_server() -> None:
    served = parse_command("mine=./serve.py --port '443 or so'")
    assert (served.name, served.command) == ("mine", ("./serve.py", "--port", "443 or so"))
    stack = served.stack("quic", 3000)
    assert stack.external_server is not None and stack.certificate_chain_bytes == 3000
    assert stack.refusal() == ""
    ours = parse_servers("ours")[0][0].stack("tls1.3", 3000, "classical")
    assert (ours.certificate_chain_bytes, ours.key_exchange) == (3000, "classical")


def make_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_variable_names_another_program_which_the_server_sees_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    caddy = PROGRAMS["caddy"]
    other = make_program(tmp_path / "bin/caddy")
    monkeypatch.setenv("CADDY", str(other))
    start = find_start(caddy, caddy.script)
    assert start is not None
    assert start.command == ("env", f"CADDY={other}", "/bin/sh", str(caddy.script))
    assert start.paths == (str(other),)
    monkeypatch.setenv("CADDY", "/usr/bin/env")
    of_system = find_start(caddy, caddy.script)
    assert of_system is not None
    assert of_system.command[:2] == ("env", "CADDY=/usr/bin/env") and of_system.paths == ()


def test_a_program_that_pip_installed_sees_its_environment_and_that_ones_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base, environment = tmp_path / "python3", tmp_path / "environment"
    python = make_program(base / "bin/python3.12")
    other = make_program(environment / "bin/envoy")
    (environment / "pyvenv.cfg").touch()
    (environment / "bin/python").symlink_to(python)
    monkeypatch.setenv("ENVOY", str(other))
    start = find_start(PROGRAMS["envoy"], PROGRAMS["envoy"].script)
    assert start is not None
    assert start.paths == (str(environment), str(base))


def test_a_module_is_imported_by_the_python_that_a_variable_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    aioquic = PROGRAMS["aioquic"]
    other = make_program(tmp_path / "other/bin/python")
    monkeypatch.setenv("AIOQUIC_PYTHON", str(other))
    start = find_start(aioquic, aioquic.script)
    assert start is not None
    assert start.command == (str(other), str(aioquic.script))
    assert start.paths == (str(tmp_path / "other"),)


def test_this_python_is_seen_with_the_one_that_it_was_made_from() -> None:
    start = find_start(PROGRAMS["aioquic"], PROGRAMS["aioquic"].script)
    if start is None:
        pytest.skip("aioquic is not installed: pip install -r requirements-dev.lock")
    needed = {path for path in (sys.prefix, sys.base_prefix) if not is_of_system(Path(path))}
    assert set(start.paths) == needed


@pytest.mark.parametrize(
    ("name", "variable", "program", "said"),
    [
        ("caddy", "CADDY", "/nowhere/caddy", "CADDY=/nowhere/caddy is no program"),
        ("aioquic", "AIOQUIC_PYTHON", "false", "AIOQUIC_PYTHON=false has no aioquic"),
    ],
)
def test_a_variable_that_names_nothing_is_told_in_one_line(
    name: str, variable: str, program: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, program)
    with pytest.raises(ProbeError, match=f"^starting {name}: {said}; correct the variable") as e:
        parse_servers(name)
    assert len(str(e.value).splitlines()) == 1


def test_a_server_of_the_interop_runner_is_a_command_behind_its_recipes_name() -> None:
    served = parse_command("mine=interop ./run_endpoint.sh -v")
    recipe = str(RECIPES_FOLDER / INTEROP)
    assert served.command == ("/bin/sh", recipe, "./run_endpoint.sh", "-v")
    assert served.protocols == ("quic",)
    with pytest.raises(ProbeError, match="write NAME=interop COMMAND"):
        parse_command("mine=interop")


@pytest.mark.parametrize("text", ["mine", "=x", "mine=", "ours=x", "mine='x"])
def test_another_form_of_a_command_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ProbeError, match=r"^--server .*(write|choose|close)") as e:
        parse_command(text)
    assert len(str(e.value).splitlines()) == 1


def test_a_path_longer_than_anything_is_refused() -> None:
    with pytest.raises(ProbeError, match="at most 10000ms"):
        parse_servers("ours+10001ms")


def test_each_program_has_a_stack_of_its_own_for_each_protocol() -> None:
    for name, program in PROGRAMS.items():
        served, missing = parse_servers(name)
        assert {each.name for each in served} | set(missing) == {name}
        for one in served:
            for protocol in program.protocols:
                assert one.stack(protocol).external_server is not None


def test_every_server_comes_once_a_block_in_an_order_of_its_own() -> None:
    served, _ = parse_servers("ours,ours")
    visits = in_order(served, 20, 7)
    blocks = [[each for each in visits if each.block == block] for block in range(20)]
    every = {(one.name, protocol) for one in served for protocol in one.protocols}
    for block in blocks:
        assert {(each.served.name, each.protocol) for each in block} == every
        assert len(block) == len(every)
    assert visits == in_order(served, 20, 7) != in_order(served, 20, 8)
    assert (
        len({tuple((each.served.name, each.protocol) for each in block) for block in blocks}) > 15
    )
