"""Which servers are put beside one another."""

import shutil

import pytest

from eyelevel.base.errors import ProbeError
from eyelevel.load.servers.known import PROGRAMS, parse_command, parse_servers
from eyelevel.load.servers.visits import in_order


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
