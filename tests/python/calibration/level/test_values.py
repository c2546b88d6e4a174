"""What a load and a transfer give, from observations as the lab and the browser report them."""

import numpy as np
import pytest
from sample_record import IN_FORCE

from eyelevel.analysis.pathlog import Arrivals
from eyelevel.calibration.level.generated_page import FONT_HOST, HOST, items
from eyelevel.calibration.level.page_values import (
    Scheduled,
    Waited,
    bulk_values,
    find_arrival_ns,
    first_flight,
    is_intended_loss,
    late_values,
    packet_to_lose,
    page_values,
    read_arrival_ns,
)

URLS = [item.url for item in items()]
RTT_MS = 100.0
TOLD = {"connect_ms": 200.0, "certificate_bytes": 900, "tickets": 2}


def arrivals(*packets: tuple[float, int], ecn: int = 0, dropped: tuple[int, ...] = ()) -> Arrivals:
    at_ms, sizes = zip(*packets, strict=True)
    return Arrivals(
        at_ns=(np.array(at_ms) * 1e6).astype(np.int64),
        wire_bytes=np.array(sizes),
        ecn=np.full(len(sizes), ecn),
        released_ns=(np.array(at_ms) * 1e6 + 50e6).astype(np.int64),
        flow=np.zeros(len(sizes), dtype=np.int64),
        dropped=np.array(dropped, dtype=np.int64),
    )


HEADS = {
    "handshake_sent_bytes": 2200,
    "response_head_bytes": 900,
    "encoder_sent_bytes": 90,
    "unsent_bytes_max": 9000,
    "receive_window_bytes": 64_256,
    "receive_window_limited_ms": 2.0,
}


def record(urls=URLS, priority="u=3", **connection):
    in_force = IN_FORCE | {
        "cipher": "AES",
        "key_exchange": "X",
        "handshake_sent_bytes": 2200,
        **HEADS,
        **connection,
    }
    return {
        "requests": [
            {
                "at_ns": at, "url": url, "connection": int(FONT_HOST in url), "priority": priority,
                "server_us": 40, "body_bytes": 1000,
            }
            for at, url in enumerate(urls)
        ],
        "connections": [{"connection": number, "in_force": in_force} for number in (0, 1, 2)],
        "objects": [
            {
                "url": url, "from": "network", "encoded_bytes": 1030, "resource_type": "Document",
                "connect_ms": [1.0, 4.5], "sending_ms": 5.0, "response_ms": 210.0,
            }
            for url in urls
        ],
        "browser": {"effective_connection_type": "4g"},
    }  # fmt: skip


def values(urls=URLS, waited=(), **connection):
    down = arrivals((0, 1500), (1, 1500), (2, 60), ecn=2)
    scheduled = Scheduled([Waited(True, ms) for ms in waited], len(waited), 7)
    return page_values(record(urls, **connection), scheduled, down, arrivals((0, 60)))


def test_a_load_in_the_pages_own_order_has_no_pair_turned() -> None:
    found = values(waited=(0.0, 10.0, 110.0))
    assert found["order_share"] == 0.0
    assert found["late_script_place"] == len([url for url in URLS if url.split("/")[2] == HOST]) - 1
    assert (found["connections"], found["unused_connections"]) == (3.0, 1.0)
    assert found["head_bytes_down"] == 3 * 990
    assert "head_bytes_up" not in found
    assert found["unsent_bytes_max"] == 9000
    assert (found["client_window_bytes"], found["window_limited_ms"]) == (64_256, 6.0)
    assert (found["ecn_share_down"], found["ecn_share_up"]) == (1.0, 0.0)
    assert (found["scheduler_ms_p50"], found["scheduler_ms_p90"]) == (10.0, 90.0)
    assert (found["in_flight_max"], found["held_back"]) == (7.0, 3.0)
    assert found["packet_bytes"] == 1500.0
    assert (found["page_connect_ms"], found["first_byte_ms"]) == (3.5, 205.0)


def test_every_pair_turned_is_all_of_them_and_fonts_of_another_host_do_not_count() -> None:
    assert values(URLS[::-1])["order_share"] == 1.0
    fonts = [url for url in URLS if FONT_HOST in url]
    own = [url for url in URLS if FONT_HOST not in url]
    assert values(fonts + own)["order_share"] == 0.0
    assert values(fonts + own)["late_script_place"] == len(own) - 1


def test_an_acknowledgement_is_late_by_its_latest() -> None:
    # There after 50 ms, at 50, 60 and 100 ms; packets go up at 55, 90 and 200 ms.
    down = arrivals((0, 1500), (10, 1500), (20, 60), (50, 1500))
    up = arrivals((55, 60), (90, 60), (200, 60))
    found = page_values(record(), Scheduled([], 0, 0), down, up)
    assert found["ack_delay_ms_max"] == 100.0


def test_images_among_themselves_may_come_in_any_order() -> None:
    images = [url for url in URLS if "image" in url]
    others = [url for url in URLS if "image" not in url]
    assert values([*others[:6], *images[::-1], *others[6:]])["order_share"] == 0.0


def test_priorities_are_one_label_that_any_change_makes_another() -> None:
    assert "image u=3 x60" in str(values()["priorities"])
    changed = record()
    changed["requests"][-1]["priority"] = "u=1"
    down = arrivals((0, 1500))
    found = page_values(changed, Scheduled([], 0, 0), down, down)
    assert found["priorities"] != values()["priorities"]


def test_what_a_load_cannot_tell_is_absent() -> None:
    found = values(cipher=None, handshake_sent_bytes=None)
    assert {"cipher", "handshake_bytes", "scheduler_ms_p50"}.isdisjoint(found)


def test_a_load_of_an_external_server_has_no_counts_of_its_connections() -> None:
    load = record() | {"connections": [], "requests": []}
    down = arrivals((0, 1500))
    found = page_values(load, Scheduled([], 0, 0), down, down)
    assert {"connections", "unused_connections", "resumed", "server_ms"}.isdisjoint(found)
    assert found["first_byte_ms"] == 205.0


def flight(*more: tuple[float, int], dropped: tuple[int, ...] = ()) -> Arrivals:
    """A handshake, then ten full packets and a short one within 20 ms."""
    handshake = [(0.0, 60), (100.0, 1500), (100.1, 800)]
    body = [(200.0 + at * 2, 1500) for at in range(10)]
    return arrivals(*handshake, *body, (220.0, 700), *more, dropped=dropped)


def test_the_first_flight_is_told_from_the_handshake_and_from_what_answers_it() -> None:
    down = flight((300.5, 1500), (300.6, 1500))
    assert first_flight(down, RTT_MS).tolist() == list(range(3, 14))
    found = bulk_values(TOLD, IN_FORCE | {"receive_window_limited_ms": 1.5}, down, RTT_MS)
    assert found == {
        "connect_ms": 200.0,
        "certificate_bytes": 900.0,
        "tickets": 2.0,
        "ecn_share_down": 0.0,
        "window_limited_ms": 1.5,
        "first_flight_packets": 11.0,
        "first_flight_ms": pytest.approx(20.0),
    }


def test_the_packet_to_lose_is_the_responses_and_no_later_one() -> None:
    down = flight((280.0, 120))
    assert packet_to_lose(down, "tail", RTT_MS) == 13
    assert 3 <= (packet_to_lose(down, "middle", RTT_MS) or 0) < 12
    assert packet_to_lose(arrivals((0.0, 60)), "tail", RTT_MS) is None


def test_the_tail_is_of_the_body_and_not_the_packet_that_ends_its_stream() -> None:
    packets = ((0, 1500), (100, 1500), (100, 1500), (100, 803), (100, 83))
    assert packet_to_lose(arrivals(*packets), "tail", RTT_MS) == 3
    assert is_intended_loss(arrivals(*packets, dropped=(3,)), "tail", RTT_MS)
    assert not is_intended_loss(arrivals(*packets, dropped=(4,)), "tail", RTT_MS)


def test_a_full_packet_is_one_of_the_servers_most_common_size() -> None:
    down = arrivals((0, 1280), (100, 1280), (100, 1280), (100, 1280), (100, 400), (500, 1480))
    assert packet_to_lose(down, "tail", RTT_MS) == 4  # the last is a probe of the path's MTU
    assert packet_to_lose(down, "middle", RTT_MS) == 2


def test_a_late_request_counts_what_leaves_between_its_coming_and_its_first_byte() -> None:
    # Packets leave the server every 10 ms and are there 50 ms later; it came at 25 ms.
    down = arrivals(*((at * 10.0, 1480) for at in range(20)))
    came_ns = read_arrival_ns({"at_ns": 25_400_000, "server_us": 400})
    told = {"asked_ns": 0, "first_byte_ns": 150_500_000}
    # The one released at 150 ms has the first byte; before it 30 to 90 ms came after the request.
    assert late_values(told, came_ns, down) == {"late_bytes": 7 * 1480.0, "late_ms": 150.5}
    assert late_values({**told, "first_byte_ns": 1}, came_ns, down) == {}


def test_the_path_shows_when_a_late_request_came_to_any_server() -> None:
    # Acknowledgements, the request, and an earlier packet with data.
    up = arrivals((10.0, 300), (20.0, 70), (30.0, 52), (31.0, 110), (32.0, 110))
    assert find_arrival_ns({"asked_ns": 12_000_000}, up) == 81_000_000
    assert find_arrival_ns({"asked_ns": 33_000_000}, up) is None


@pytest.mark.parametrize(
    ("dropped", "kind", "right"),
    [
        ((13,), "tail", True),
        ((12,), "tail", False),
        ((6,), "middle", True),
        ((13,), "middle", False),
        ((), "tail", False),
        ((5, 13), "tail", False),
    ],
)
def test_a_loss_counts_only_where_it_was_of_the_packet_that_was_meant(dropped, kind, right):
    assert is_intended_loss(flight((420.0, 700), dropped=dropped), kind, RTT_MS) == right


def test_cleartext_has_no_certificate() -> None:
    told = {"connect_ms": 200.0, "certificate_bytes": None, "tickets": 0}
    found = bulk_values(told, IN_FORCE, arrivals((0, 60)), RTT_MS)
    assert (found["connect_ms"], found["tickets"]) == (200.0, 0.0)
    assert "certificate_bytes" not in found
