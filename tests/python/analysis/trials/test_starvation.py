"""Blocks are judged by what others did to the machine, whatever their stacks did."""

from typing import Any

import polars as pl
import pytest
from judged import judge_all
from sample_record import QUIET_HOST, sample_record

from eyelevel.analysis.trials.starvation import (
    CPU_FOREIGN_SHARE_MAX,
    CPU_STEAL_SHARE_MAX,
    find_withheld,
    judge_alone,
)

BUSY = {"cpu_foreign_share": CPU_FOREIGN_SHARE_MAX + 0.01}
STOLEN = {"cpu_steal_share": CPU_STEAL_SHARE_MAX + 0.001}
AT_THE_BOUNDS = {
    "cpu_foreign_share": CPU_FOREIGN_SHARE_MAX,
    "cpu_steal_share": CPU_STEAL_SHARE_MAX,
}


def load(stack: str, repetition: int = 1, outcome: str = "ok", **host: Any) -> dict[str, Any]:
    record = sample_record(stack=stack, repetition=repetition, outcome=outcome)
    return record | {"host": QUIET_HOST | host}


def outcomes(*records: dict[str, Any]) -> list[str]:
    judged = judge_all(records)
    return [judged[record["trial"]["hash"]][0] for record in records]


@pytest.mark.parametrize("trouble", [BUSY, STOLEN])
def test_a_disturbed_load_starves_its_whole_block_and_no_other(trouble: dict[str, float]) -> None:
    found = outcomes(load("tcp", **trouble), load("quic"), load("tcp", 2), load("quic", 2))
    assert found == ["starved", "starved", "ok", "ok"]


def test_what_stays_within_the_bounds_starves_nothing() -> None:
    assert outcomes(load("tcp", **AT_THE_BOUNDS), load("quic")) == ["ok", "ok"]


def test_a_load_is_never_starved_by_pressure_of_its_own() -> None:
    """A quiet load of QUIC waits more than one of TCP: that must not take its slow loads away."""
    crowded = {"cpu_pressure_share": 0.99, "cpu_busy_share": 1.0}
    calm = [load("tcp", n) for n in range(1, 6)]
    assert set(outcomes(*calm, load("quic", 1, **crowded))) == {"ok"}


def test_late_packets_exclude_no_load_but_a_disturbed_block_does() -> None:
    found = outcomes(load("tcp"), load("quic", outcome="late-packets"))
    assert found == ["ok", "ok"]
    found = outcomes(load("tcp", **BUSY), load("quic", outcome="late-packets"))
    assert found == ["starved", "starved"]


def test_a_timeout_in_a_disturbed_block_is_no_result() -> None:
    assert outcomes(load("tcp", **BUSY), load("quic", outcome="timeout")) == ["starved"] * 2
    assert outcomes(load("tcp", **BUSY), load("quic", outcome="wrong-stack"))[1] == "wrong-stack"


def test_of_a_machine_that_was_not_measured_nothing_is_assumed() -> None:
    old = load("tcp")
    del old["host"]["cpu_foreign_share"]
    assert outcomes(old, load("quic")) == ["ok", "ok"]
    assert judge_alone(old) == ("ok", "")


def test_a_load_without_a_block_is_judged_by_itself() -> None:
    outcome, detail = judge_alone(load("tcp", **BUSY))
    assert outcome == "starved" and "other programs took 11%" in detail
    assert judge_alone(load("tcp", outcome="wrong-stack", **BUSY))[0] == "wrong-stack"


def test_each_cause_of_a_disturbance_is_named() -> None:
    _, detail = judge_alone(load("tcp", **BUSY, **STOLEN))
    took = "other programs took 11% and the hypervisor took 2.1% of the processor time"
    assert detail == took


def blocks(starved: int, kept: int, late: int = 0) -> pl.DataFrame:
    """Of one network: so many blocks of two stacks, `late` of them with late packets in quic."""
    rows = [
        ("lte", f"b{n}", n, stack, 0.6 if n < starved else 0.05, stack == "quic" and n < late)
        for n in range(starved + kept)
        for stack in ("tcp", "quic")
    ]
    names = ["network", "block", "repetition", "stack", "cpu_foreign_share", "late"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(cpu_steal_share=pl.lit(0.0))


@pytest.mark.parametrize(
    ("starved", "kept", "late", "why"),
    [
        (0, 3, 0, ""),
        (0, 2, 0, ""),  # as it was planned
        (1, 2, 0, "too busy to answer: 1 of 3 blocks"),
        (1, 3, 0, ""),
        (10, 10, 0, ""),
        (11, 10, 0, "too busy to answer: 11 of 21 blocks"),
        (3, 0, 0, "too busy to answer: 3 of 3 blocks"),
        (0, 4, 2, ""),
        (0, 4, 3, "too slow to answer: packets were late in 3 of 4 loads of quic"),
    ],
)
def test_a_network_has_no_answer_where_the_machine_left_too_little(
    starved: int, kept: int, late: int, why: str
) -> None:
    table = blocks(starved, kept, late)
    found = find_withheld(table, table.filter(cpu_foreign_share=0.05))
    assert list(found) == (["lte"] if why else [])
    assert why in found.get("lte", "")
