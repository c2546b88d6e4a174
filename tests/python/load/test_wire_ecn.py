from dataclasses import replace
from typing import Any

import pytest

from eyelevel.load.wrong_stack import capable_share, wrong_ecn
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer, Stack

THEIRS = ExternalServer(("s",), ("h2", "h3"))
NONE = {"not_ect": 0, "ect0": 0, "ect1": 0, "ce": 0, "marked": 0}
OFF = NONE | {"not_ect": 50}
TCP_ON = NONE | {"not_ect": 20, "ect0": 29, "ce": 1, "marked": 3}
QUIC_ON = NONE | {"ect0": 50, "marked": 3}


def of_version(http_version: str) -> Stack:
    return STACKS_BY_NAME[{"h2": "tcp+", "h3": "quic"}[http_version]]


def judged(
    ecn: str, http_version: str, down: dict[str, int], up: dict[str, int], **stack: Any
) -> str:
    protocol = {"h2": "h2", "h3": "h3"}[http_version]
    connection = {"connection": 7, "protocol": protocol, "ecn": {"down": down, "up": up}}
    settings = replace(of_version(http_version), ecn=ecn, **stack)
    path = {"down": {"ecn": down}, "up": {"ecn": up}}
    return wrong_ecn(settings, [connection], [{"connection": 7}], path)


@pytest.mark.parametrize(
    ("ecn", "http_version", "down", "up"),
    [
        ("off", "h2", OFF, OFF),
        ("off", "h3", OFF, OFF),
        ("on", "h2", TCP_ON, TCP_ON),
        ("on", "h3", QUIC_ON, QUIC_ON),
        # What a browser marks of its own packets is not ours to say.
        ("on", "h3", QUIC_ON, OFF),
    ],
)
def test_what_came_as_the_stack_says_is_right(
    ecn: str, http_version: str, down: dict[str, int], up: dict[str, int]
) -> None:
    assert judged(ecn, http_version, down, up) == ""


@pytest.mark.parametrize(
    ("ecn", "http_version", "down", "up", "word"),
    [
        ("off", "h3", QUIC_ON, OFF, "50 packets down were ECN-capable"),
        ("off", "h3", OFF, OFF | {"ect0": 1}, "1 packets up"),
        ("off", "h2", OFF | {"ect1": 2}, OFF, "2 packets down"),
        ("off", "h2", OFF | {"ce": 2}, OFF, "2 packets down"),
        ("on", "h2", OFF, OFF, "0% of its packets down"),
        ("on", "h2", TCP_ON, OFF, "0% of its packets up"),
        ("on", "h3", OFF, OFF, "0% of its packets down"),
        # noq gave it up after its first packets.
        ("on", "h3", NONE | {"not_ect": 40, "ect0": 10}, OFF, "20% of its packets down"),
        ("on", "h3", QUIC_ON | {"ect1": 1}, OFF, "ECT(1)"),
    ],
)
def test_what_came_otherwise_is_named(
    ecn: str, http_version: str, down: dict[str, int], up: dict[str, int], word: str
) -> None:
    said = judged(ecn, http_version, down, up)
    assert word in said
    assert "connection 7" in said


def test_packets_of_no_connection_of_the_servers_count_too() -> None:
    path = {"down": {"ecn": OFF}, "up": {"ecn": OFF | {"ect0": 3}}}
    stack = of_version("h3")
    assert wrong_ecn(stack, [], [], path) == "3 packets up were ECN-capable"


def test_a_connection_without_a_request_may_have_sent_nothing_that_can_be_marked() -> None:
    idle = {"connection": 7, "protocol": "h2", "ecn": {"down": OFF, "up": OFF}}
    path = {"down": {"ecn": OFF}, "up": {"ecn": OFF}}
    stack = replace(of_version("h2"), ecn="on")
    assert wrong_ecn(stack, [idle], [], path) == ""
    assert wrong_ecn(stack, [idle], [{"connection": 7}], path)


def test_a_served_connection_that_the_path_does_not_know_is_wrong() -> None:
    lost = {"connection": 7, "protocol": "h2", "ecn": None}
    path = {"down": {"ecn": OFF}, "up": {"ecn": OFF}}
    stack = replace(of_version("h2"), ecn="on")
    assert "knows none" in wrong_ecn(stack, [lost], [{"connection": 7}], path)


def test_somebody_elses_server_over_quic_is_its_own_matter() -> None:
    assert judged("off", "h3", QUIC_ON, OFF, external_server=THEIRS) == ""
    assert judged("off", "h2", TCP_ON, OFF, external_server=THEIRS) != ""


def test_the_share_of_nothing_is_none() -> None:
    assert capable_share(NONE) is None
    assert capable_share(TCP_ON) == 0.6
