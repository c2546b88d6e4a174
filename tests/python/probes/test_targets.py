"""What users write, and when rounds are due."""

import pytest

from eyelevel.base.errors import ProbeError
from eyelevel.probes.targets import (
    Rounds,
    parse_connect,
    parse_duration_s,
    parse_protocols,
    parse_resolver,
    parse_target,
    protocols_of_stacks,
)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a.example", ("a.example", 443, "/")),
        ("https://a.example:8443/x/y?z", ("a.example", 8443, "/x/y?z")),
        ("[2001:db8::1]:444", ("[2001:db8::1]", 444, "/")),
        ("bücher.example/", ("xn--bcher-kva.example", 443, "/")),
    ],
)
def test_targets(text: str, expected: tuple[str, int, str]) -> None:
    target = parse_target(text)
    assert (target.host, target.port, target.path) == expected


@pytest.mark.parametrize("text", ["", "a:0", "a:99999", "2001:db8::1::", "a b", "http://a:80:1/"])
def test_what_is_no_target(text: str) -> None:
    with pytest.raises(ProbeError, match="HOST"):
        parse_target(text)


def test_durations_protocols_and_resolvers() -> None:
    assert parse_duration_s("250ms", "--interval") == 0.25
    assert parse_duration_s("7d", "--for") == 7 * 86400
    assert parse_protocols("quic, tls1.3,quic") == ["quic", "tls1.3"]
    assert parse_resolver("9.9.9.9") == "9.9.9.9:53"
    assert parse_resolver("[2620:fe::fe]:5353") == "[2620:fe::fe]:5353"
    assert protocols_of_stacks([("h3", "1.3"), ("h2", "1.2")]) == ["tls1.2", "quic"]
    for wrong in (lambda: parse_duration_s("5", "--for"), lambda: parse_protocols("tls1.1")):
        with pytest.raises(ProbeError):
            wrong()
    assert parse_connect("[2001:db8::1]", v4=True, v6=True) == "2001:db8::1"
    for text, v4 in (("192.0.2.1", False), ("2001:db8::1", True), ("a.example", True)):
        with pytest.raises(ProbeError, match="--connect"):
            parse_connect(text, v4=v4, v6=not v4)
    with pytest.raises(ProbeError, match="--resolver"):
        parse_resolver("dns.example")


def test_rounds_keep_their_grid_over_restarts_and_never_pile_up() -> None:
    rounds = Rounds(began_unix_s=1000.0, every_s=60.0, for_s=300.0)
    assert rounds.count == 5
    assert rounds.next_after(1000.0, None) == 0
    assert rounds.next_after(1000.5, 0) == 1
    assert rounds.next_after(1130.0, 0) == 3, "round 2 was missed at 1120 and is left out"
    assert rounds.next_after(1120.2, 0) == 2, "a second late is on time"
    assert rounds.next_after(1241.0, 3) == 4
    assert rounds.next_after(1241.0, 4) is None
    assert rounds.next_after(5000.0, None) is None
    assert rounds.due_unix_s(2) == 1120.0
