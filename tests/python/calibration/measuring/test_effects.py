"""What an aspect moves: a stack beside itself with one setting changed; of runs made up."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from eyelevel.calibration.measuring import cache as level_cache
from eyelevel.calibration.measuring import measure as level_validation
from eyelevel.calibration.measuring.measure import measure_effects, read_level, validate_level
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

TCP, QUIC = STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"]

SHAPE = {"value", "low", "high", "p", "undetermined_because"}


def speed_index_ms(stack: Stack, seed: int) -> float:
    """Nothing counts but pacing and, over TCP alone, the size of a record."""
    base = 1000.0 + seed % 2
    return base + (0 if stack.pacing else 40) + (25 if stack.tls_record_bytes == 16_384 else 0)


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def run(scenario, stack, recordings, seed):
        asked.append(stack.name)
        return {"speed_index_ms": speed_index_ms(stack, seed), "page_load_time_ms": 2000.0}

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(level_validation, "run_scenario", run)
    no_wait = SimpleNamespace(wait=lambda: 0.0)
    monkeypatch.setattr(level_validation, "HostWait", lambda **settings: no_wait)
    monkeypatch.setattr(level_validation.Recordings, "write", lambda *given: None)
    monkeypatch.setattr(level_cache, "build", lambda: {"kernel": "1"})
    monkeypatch.setattr(level_cache, "browser_version", lambda: "Chromium 1")
    return asked


def test_an_aspect_moves_what_its_setting_alone_moves() -> None:
    found = measure_effects(TCP, QUIC, lambda step: None)
    for where in ("far", "slow"):
        moved = found["pacing"][f"Speed Index on {where}"]
        assert moved.low <= 40.0 <= moved.high and abs(moved.value - 40.0) < 1.0
        still = found["ECN bits"][f"load time on {where}"]
        assert (still.value, still.low, still.high) == (0.0, 0.0, 0.0)
    # QUIC has no TLS records, so that it is TCP's that are changed.
    assert found["first usable byte"]["Speed Index on far"].value == pytest.approx(25.0, abs=1.0)


def test_effects_stand_in_the_rows_and_are_empty_where_nothing_was_switched() -> None:
    validate_level(TCP, QUIC, lambda step: None, budget_s=0.0)
    assert all(row.effect_ms is None for row in read_level(TCP, QUIC).rows)
    measure_effects(TCP, QUIC, lambda step: None)
    rows = {row.aspect: row for row in read_level(TCP, QUIC).rows}
    assert rows["pacing"].as_json()["effect_ms"]["Speed Index on far"].keys() == SHAPE
    assert rows["handshake"].effect_ms is None


def test_twins_are_measured_once(made: list[str]) -> None:
    measure_effects(TCP, QUIC, lambda step: None)
    count = len(made)
    measure_effects(TCP, QUIC, lambda step: None)
    assert len(made) == count
