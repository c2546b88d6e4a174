"""A path that goes dead during a load: what the browser says of the objects that it lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.load.rules import is_network_loss

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("labs")]

ARRIVE = 30
"""Packets down that arrive: enough for the document, too few for what it asks for."""


def test_objects_of_a_path_that_went_dead_are_lost_by_the_network(tmp_path: Path) -> None:
    fates = tmp_path / "fates"
    fates.write_text("0\n" * ARRIVE + "lost\n" * 20_000, encoding="ascii")
    words = ["load", "agency", "--stack", "quic", "--down", f"fates {fates}", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "eyelevel.cli.main", *words],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    (trial,) = json.loads(done.stdout)
    failed = {item["failed"] for item in trial["objects"] if item["failed"]}
    assert failed and all(map(is_network_loss, failed)), failed
    assert any("QUIC_NETWORK_IDLE_TIMEOUT" in each for each in failed)
    # A machine that other work keeps busy starves it.
    assert trial["outcome"] in ("timeout", "starved"), trial["outcome_detail"]
