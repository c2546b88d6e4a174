"""The observations of one good load, for tests that change a part of it."""

from dataclasses import replace
from typing import Any

from sample_record import sample_connection, sample_object, sample_request

from eyelevel.load.coding import Observed
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME

IN_TIME = {"lateness_us_p50": 20.0, "lateness_us_p99": 90.0, "lateness_us_max": 400.0}
UNMARKED = {"not_ect": 40, "ect0": 0, "ect1": 0, "ce": 0, "marked": 0}
QUIET = {**IN_TIME, "arrival": IN_TIME, "ecn": UNMARKED}
URL = "https://a.example/"
START_NS = 930_000_000
"""Navigation start; the connection is accepted 40 ms later and ready at 1 s."""


def path_of(down: Any = QUIET, up: Any = QUIET, **lost: int) -> dict[str, Any]:
    whole = {"device": 0, "udp_receive_buffer": 0}
    return {"down": down, "up": up, "lost_outside": {"client": whole | lost, "server": whole}}


def an_object(**changed: Any) -> dict[str, Any]:
    return sample_object(**{"url": URL, "response_ms": 80.0} | changed)


def a_connection(**in_force: Any) -> dict[str, Any]:
    event = {
        "congestion_control": "cubic",
        "initial_window_packets": 32,
        "pacing_rate_bytes_s_max": 10**10,
        "slow_start_after_idle": False,
        "tls_version": "1.3",
        "cipher": "TLS13_AES_128_GCM_SHA256",
        "key_exchange": "X25519MLKEM768",
        "rtt_ms_min": 24.0,
    }
    connection = sample_connection(accepted_at_ns=START_NS + 40_000_000, **(event | in_force))
    return connection | {"scheme": "https", "ready_at_ns": START_NS + 70_000_000}


TUNED = STACKS_BY_NAME["tcp+"]
GOOD = Observed(
    ended="complete",
    detail="",
    objects=[an_object()],
    frames=5,
    frames_lost=0,
    first_contentful_paint_ms=300.0,
    page_load_time_ms=900.0,
    final_picture_matches=True,
    requests=[sample_request(url=URL)],
    connections=[a_connection()],
    path=path_of(),
    host={"cpu_steal_share": 0.0},
    stack=TUNED,
    network=NETWORKS_BY_NAME["dsl"],
    browser=Browser(effective_connection_type="measured"),
    navigation_start_ns=START_NS,
)
AGAIN = replace(GOOD.browser, visit="repeat")
FOUR_G = replace(GOOD.browser, effective_connection_type="4g")
