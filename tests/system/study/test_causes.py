"""The law behind `causes`: on a lossless far network two stacks differ by one round trip of
handshake, and over connections that are open by nothing."""

from pathlib import Path

import numpy as np
import pytest
from loads import load

from eyelevel.analysis.stats.decomposition import decompose_difference

NETWORK, RTT_MS = "das-25-300", 300.0

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("labs")]


def first_response_ms(site: Path, stack: str, visit: str) -> float:
    trial = load(str(site), "--network", NETWORK, "--stack", stack, "--visit", visit)
    page = next(each for each in trial["objects"] if each["resource_type"] == "Document")
    return page["response_ms"]


def test_the_difference_is_one_round_trip_of_handshake_and_nothing_else(small_site: Path) -> None:
    differences = {
        visit: np.array([[first_response_ms(small_site, "quic", visit)
                          - first_response_ms(small_site, "tcp+", visit)]])
        for visit in ("first", "warm")
    }  # fmt: skip
    without = differences["warm"]
    found = decompose_difference(differences["first"], {"handshake": without}, without)
    # A busy machine adds far less than half a round trip.
    assert round((found.causes["handshake"].value or 0) / RTT_MS) == -1
    assert round((found.remaining.value or 0) / RTT_MS) == 0
    assert found.interaction.value == 0
