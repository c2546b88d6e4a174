"""Servers side by side: made blocks whose truth is known."""

import numpy as np
import pytest

from eyelevel.probes.servers import find_failed_flight, side_by_side

OURS, OTHER = "ours", "other"


def row(server: str, block: int, ms: float, **more: object) -> dict[str, object]:
    base: dict[str, object] = {
        "probed_server": server, "block": block, "protocol": "quic", "failure": None,
        "connection_us": round(1000 * ms), "tcp_handshake_us": None,
        "resumption_offered": False, "resumed": False,
        "round_trips": 1, "extra_round_trips": 0, "certificate_bytes": 820,
        "received_bytes": 1500, "sent_bytes": 2400, "retries": 0, "hello_retry_request": False,
    }  # fmt: skip
    return base | more


def pair(later_ms: float, blocks: int = 12, **more: object) -> list[dict[str, object]]:
    """Blocks that differ far more from each other than the servers within one do."""
    ours = [row(OURS, block, 20 + 30 * (block % 3)) for block in range(blocks)]
    other = [row(OTHER, n, 20 + 30 * (n % 3) + later_ms, **more) for n in range(blocks)]
    return ours + other[::-1]


def other(rows: list[dict[str, object]]) -> dict[str, object]:
    return side_by_side(rows, [OURS, OTHER])[1]


def test_a_known_delay_is_told_within_blocks_that_differ_more() -> None:
    reference, found = side_by_side(pair(0.5), [OURS, OTHER])
    assert (found["server"], found["protocol"], found["handshake"]) == (OTHER, "quic", "full")
    assert found["difference_ms"]["value"] == found["difference_ms"]["low"] == 0.5
    assert (found["verdict"], found["p_holm"]) == ("slower", 2**-11)
    assert other(pair(-0.5))["verdict"] == "faster"
    assert reference["verdict"] == "undetermined"
    assert reference["difference_ms"]["undetermined_because"] == "this is the reference"


def test_two_of_the_same_are_told_apart_as_seldom_as_is_said() -> None:
    generator = np.random.Generator(np.random.PCG64(5))
    claims = 0
    for _ in range(300):
        noise = generator.gamma(2, 0.2, (2, 12))
        rows = [
            row(name, n, 20 + noise[i, n])
            for i, name in enumerate((OURS, OTHER))
            for n in range(12)
        ]
        claims += other(rows)["verdict"] in ("slower", "faster")
    assert claims <= 0.05 * 300


def test_claims_are_corrected_over_all_rows() -> None:
    rows = pair(0.5, 8)
    assert other(rows)["verdict"] == "slower"
    more = [each | {"protocol": name} for each in rows for name in ("tls1.2", "tls1.3")]
    resumed = [each | {"resumption_offered": True, "resumed": True} for each in rows + more]
    found = side_by_side(rows + more + resumed, [OURS, OTHER])
    assert len(found) == 12
    assert {each["p_holm"] for each in found} == {6 * 2**-7, None}
    assert [each["protocol"] for each in found[::4]] == ["tls1.2", "tls1.3", "quic"]
    assert [each["handshake"] for each in found[:4]] == ["full", "full", "resumed", "resumed"]


def test_too_few_blocks_are_no_finding_that_there_is_no_difference() -> None:
    rows = pair(15, 6)
    both = rows + [each | {"protocol": "tls1.3"} for each in rows]
    found = side_by_side(both, [OURS, OTHER])
    assert {(each["verdict"], each["blocks_needed"]) for each in found} == {("undetermined", 7)}
    enough = pair(15, 7) + [each | {"protocol": "tls1.3"} for each in pair(15, 7)]
    told = side_by_side(enough, [OURS, OTHER])[1]
    assert (told["verdict"], told["blocks_needed"]) == ("slower", None)
    assert other(pair(15, 5))["verdict"] == "undetermined"


def test_blocks_of_one_alone_are_not_compared() -> None:
    rows = [*pair(1), row(OTHER, 50, 900)]
    assert other(rows)["difference_ms"]["value"] == 1
    apart = [row(OURS, 0, 1), row(OTHER, 1, 1)]
    assert other(apart)["difference_ms"]["undetermined_because"] == "no block has both"


def test_a_protocol_that_the_reference_lacks_has_times_and_no_difference() -> None:
    rows = [row(OTHER, n, 20 + n) for n in range(12)]
    (found,) = side_by_side(rows, [OURS, OTHER])
    assert found["connection_ms"]["value"] == 25.5 and found["connection_ms"]["p"] is None
    assert found["difference_ms"]["undetermined_because"] == "the reference has no such handshake"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, []),
        ({"retries": 1}, ["Retry, to validate the address: 1 round trip"]),
        (
            {"hello_retry_request": True},
            ["HelloRetryRequest, for another key share: 1 round trip"],
        ),
        (
            {"extra_round_trips": 1, "sent_bytes": 4800},
            ["1 round trip that no handshake needs: the client had to send datagrams again"],
        ),
        (
            {"extra_round_trips": 2, "certificate_bytes": 9820, "received_bytes": 10_600},
            [
                "2 round trips that no handshake needs: "
                "a chain beyond QUIC's threefold limit, or a loss",
                "+9000 bytes in the chain",
                "+9100 bytes received",
            ],
        ),
        ({"certificate_bytes": 823}, []),
    ],
)
def test_what_a_handshake_tells_of_its_cost_is_said(
    more: dict[str, object], why: list[str]
) -> None:
    assert other(pair(20, **more))["why"] == why


def test_sessions_that_are_not_resumed_are_said_and_in_no_time() -> None:
    offered = {"resumption_offered": True}
    ours = [row(OURS, n, 20, **offered, resumed=True) for n in range(12)]
    theirs = [row(OTHER, n, 20 if n else 40, **offered, resumed=bool(n)) for n in range(12)]
    found = other(ours + theirs)
    assert (found["handshake"], found["attempts"], found["resumed"]) == ("resumed", 12, 11)
    assert found["connection_ms"]["value"] == 20
    assert found["why"] == ["1 of 12 not resumed: no ticket, or not taken"]


@pytest.mark.parametrize(
    ("seen", "flight"),
    [
        ({"protocol": "tls1.3"}, "TCP's handshake"),
        (
            {"protocol": "tls1.3", "tcp_handshake_us": 1},
            "the client's first flight, which was not answered",
        ),
        (
            {"protocol": "tls1.3", "tcp_handshake_us": 1, "received_bytes": 9},
            "the server's first flight",
        ),
        ({"protocol": "quic"}, "the client's first flight, which was not answered"),
        ({"protocol": "quic", "received_bytes": 1200}, "the server's first flight"),
        ({"protocol": "quic", "received_bytes": 1200, "connection_us": 1}, "the request"),
        # The row of such an attempt is empty, since it is never started.
        ({"protocol": "quic", "failure": "no-session"}, "the connection before it"),
        ({"protocol": "tls1.3", "failure": "no-session"}, "the connection before it"),
    ],
)
def test_a_failure_has_its_flight(seen: dict[str, object], flight: str) -> None:
    nothing = dict.fromkeys(("failure", "tcp_handshake_us", "connection_us", "received_bytes"))
    assert find_failed_flight(nothing | seen) == flight


def test_the_share_of_failures_has_an_exact_interval() -> None:
    failed = {"failure": "quic-timeout", "connection_us": None}
    found = other(
        [row(OURS, n, 20) for n in range(12)]
        + [row(OTHER, n, 0) | (failed if n < 3 else {}) for n in range(12)]
    )
    share = found["failed_share"]
    # Clopper and Pearson's of 3 in 12, from R's binom.test.
    assert share["value"] == 0.25
    assert share["low"] == pytest.approx(0.0549, abs=1e-4)
    assert share["high"] == pytest.approx(0.5719, abs=1e-4)


def test_one_that_never_connects_is_there_without_a_time() -> None:
    failed = {"failure": "quic-timeout", "connection_us": None, "certificate_bytes": None}
    rows = [row(OURS, n, 20) for n in range(8)]
    rows += [row(OTHER, n, 0) | failed for n in range(8)]
    found = other(rows)
    assert (found["connected"], found["attempts"]) == (0, 8)
    assert found["why"] == [
        "8 of 8 failed (95 % interval 63% to 100%)",
        "8 quic-timeout in the server's first flight",
    ]
    assert found["failed_in"] == {"the server's first flight": 8}
    assert found["connection_ms"]["undetermined_because"] == "none connected"
    assert found["certificate_bytes"] is None and found["verdict"] == "undetermined"
