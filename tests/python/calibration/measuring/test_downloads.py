"""Downloads of several stacks: what is measured in which order, and what a row has."""

import pytest

from eyelevel.base.errors import LabError
from eyelevel.calibration.measuring import downloads
from eyelevel.calibration.measuring.downloads import (
    NETWORK,
    Download,
    measure_downloads,
    summarise_downloads,
)
from eyelevel.calibration.measuring.runs import RunError
from eyelevel.plan.stack_presets import STACKS_BY_NAME

STACKS = [STACKS_BY_NAME[name] for name in ("tcp+", "quic")]
REPORT = {
    "complete": True, "connect_ms": 40.0, "duration_ms": 80.0, "server_cpu_s": 0.001,
    "client_cpu_s": 0.002,
}  # fmt: skip


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list:
    """Return the list of the transfers' results in their order: reports, or errors to raise."""
    given: list = []

    def transfer(*_: object) -> tuple:
        answer = given.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer, None, None

    monkeypatch.setattr(downloads, "transfer", transfer)
    monkeypatch.setattr(downloads, "WAIT_S", 0.0)
    return given


def test_stacks_alternate_and_a_starved_transfer_is_repeated(answers: list) -> None:
    answers += [REPORT, RunError("starved"), REPORT, REPORT, REPORT]
    steps: list = []
    found = measure_downloads(STACKS, [10_000], 2, lambda *step: steps.append(step[2]))
    assert steps == ["tcp+", "quic", "quic", "tcp+"]
    assert [each.stack for each in found] == steps


def test_a_machine_that_starves_every_try_leaves_one_out(answers: list) -> None:
    answers += [RunError("starved")] * downloads.TRIES + [REPORT]
    found = measure_downloads(STACKS, [10_000], 1, lambda *_: None)
    assert [each.stack for each in found] == ["quic"]


def test_a_body_that_is_not_whole_is_named(answers: list) -> None:
    answers.append(REPORT | {"complete": False})
    with pytest.raises(LabError, match=r"tcp\+ did not send a body of 10,000 bytes whole"):
        measure_downloads(STACKS, [10_000], 1, lambda *_: None)


def test_a_row_has_medians_per_byte_and_the_range_of_the_rate() -> None:
    times_ms = (80.0, 160.0, 800.0)
    each = [Download("quic", 1_000_000, 41.0, ms, 0.004, 0.002) for ms in times_ms]
    (row,) = summarise_downloads(each)
    assert (row.runs, row.mbit_s, row.mbit_s_min, row.mbit_s_max) == (3, 50.0, 10.0, 100.0)
    assert (row.server_ns_per_byte, row.client_ns_per_byte) == pytest.approx((4.0, 2.0))
    assert row.as_json()["connect_ms"] == 41.0


def test_rows_are_by_size_and_stacks_in_one_order() -> None:
    each = [
        Download(stack, size, 41.0, 80.0, 0.004, 0.002)
        for size, stack in ((10, "tcp+"), (10, "quic"), (100, "quic"), (100, "tcp+"))
    ]
    rows = [(row.body_bytes, row.stack) for row in summarise_downloads(each)]
    assert rows == [(10, "tcp+"), (10, "quic"), (100, "tcp+"), (100, "quic")]


def test_the_queue_holds_two_round_trips_of_bytes() -> None:
    assert NETWORK.queue_ms >= 2 * NETWORK.rtt_ms_min
