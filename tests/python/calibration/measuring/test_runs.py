"""One run of a scenario: what of a transfer counts."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from eyelevel.calibration.level.classes import SCENARIOS_BY_NAME
from eyelevel.calibration.measuring import runs as level_runs
from eyelevel.calibration.measuring.runs import Recordings, RunError, run_scenario
from eyelevel.plan.stack_presets import STACKS_BY_NAME

LATE = {"lateness_us_p99": 10.0, "lateness_us_max": 20.0}
RECORDINGS = Recordings(
    Path("page"),
    "digest",
    {each.body_bytes: (Path("site"), "https://url/") for each in SCENARIOS_BY_NAME.values()},
)


@pytest.mark.parametrize(
    ("lost", "late_us", "reason"),
    [
        (
            1,
            20.0,
            "packets were lost outside the emulated path at the client: udp_receive_buffer 1",
        ),
        (0, 50_000.0, "a packet down was released 50.0 ms late"),
    ],
)
@pytest.mark.parametrize("name", ["bulk on far", "late on slow", "loss at the tail"])
def test_a_transfer_that_the_machine_starved_says_nothing(
    monkeypatch, name: str, lost: int, late_us: float, reason: str
) -> None:
    direction = {**LATE, "arrival": LATE}
    path = {
        "down": {**direction, "lateness_us_max": late_us},
        "up": direction,
        "lost_outside": {"client": {"udp_receive_buffer": lost}, "server": {}},
    }
    summary = SimpleNamespace(path=path, connections=[], requests=[])
    monkeypatch.setattr(level_runs, "transfer_with_report", lambda *given, **more: ({}, summary))
    with pytest.raises(RunError, match=f"starved: {reason}"):
        run_scenario(SCENARIOS_BY_NAME[name], STACKS_BY_NAME["quic"], RECORDINGS, 1)
