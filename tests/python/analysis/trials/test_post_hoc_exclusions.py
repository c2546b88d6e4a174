"""Outcomes that only the other loads can tell."""

from typing import Any

import pytest
from judged import judge_all
from sample_record import QUIET_HOST, sample_object, sample_record, sample_request

from eyelevel.store.outcomes import NOT_RECORDED

GREY = bytes([128] * 576).hex()
BLACK = bytes(576).hex()


def block(**changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Records of one block, one a stack; `changes` by stack, with + written as `plus`."""
    records = []
    for stack in ("tcp", "tcp+", "quic"):
        record = sample_record(stack=stack)
        record |= changes.get(stack.replace("+", "plus"), {})
        records.append(record)
    return records


def outcomes(records: list[dict[str, Any]]) -> dict[str, str]:
    judged = judge_all(records)
    return {r["trial"]["stack"]: judged[r["trial"]["hash"]][0] for r in records}


def miss(url: str) -> dict[str, Any]:
    return {"requests": [sample_request(url=url, match="miss")]}


def test_the_same_misses_everywhere_are_no_trouble() -> None:
    same = miss("https://a.example/gone?x=1")
    other_query = miss("https://a.example/gone?x=2")
    assert set(outcomes(block(tcp=same, tcpplus=other_query, quic=same)).values()) == {"ok"}


def test_other_misses_than_the_blocks_other_stacks() -> None:
    found = outcomes(block(quic=miss("https://a.example/gone")))
    assert found == {"tcp": "ok", "tcp+": "ok", "quic": "missed-requests"}
    each = {name: miss(f"https://a.example/{name}") for name in ("tcp", "tcpplus", "quic")}
    assert set(outcomes(block(**each)).values()) == {"missed-requests"}


@pytest.mark.parametrize("error", NOT_RECORDED)
def test_a_host_that_is_not_there_is_a_miss_too_in_each_browsers_words(error: str) -> None:
    unresolved = sample_object(url="https://b.example/", failed=error)
    found = outcomes(block(tcp={"objects": [unresolved]}))
    assert found == {"tcp": "missed-requests", "tcp+": "ok", "quic": "ok"}


def test_a_page_that_ends_with_another_picture() -> None:
    records = [
        sample_record(stack="tcp", repetition=repetition)
        | {"browser": {"final_picture": GREY if repetition < 5 else BLACK}}
        for repetition in range(1, 6)
    ]
    judged = judge_all(records)
    assert [judged[r["trial"]["hash"]][0] for r in records] == ["ok"] * 4 + ["different-page"]


def test_an_outcome_that_is_there_already_stays() -> None:
    timed_out = sample_record(stack="tcp", outcome="timeout") | miss("https://a.example/x")
    judged = judge_all([timed_out, sample_record(stack="quic")])
    assert judged[timed_out["trial"]["hash"]][0] == "timeout"


def timer_gap_record(
    stack: str, repetition: int, gap_ms: float, task_ms: float = 0.0
) -> dict[str, Any]:
    """A load whose timer had a gap with a long task of `task_ms` in it."""
    record = sample_record(stack=stack, repetition=repetition)
    record["navigation"] |= {
        "timer_gaps_ms": [[300.0, gap_ms], [2000.0, 60.0]],
        "long_tasks_ms": [[310.0, task_ms]] if task_ms else [],
    }
    return record


def test_a_page_whose_processes_were_watched_is_not_judged_by_its_timer() -> None:
    """A stack that keeps the processors busy stops the timer; only a stopped process counts."""
    records = [timer_gap_record("tcp", n, 150) for n in (1, 2, 3)] + [
        timer_gap_record("quic", 4, 900)
    ]
    for record in records:
        record["host"] = QUIET_HOST | {"suspended": []}
    assert {outcome for outcome, _ in judge_all(records).values()} == {"ok"}


def test_a_page_that_stalled_longer_than_its_other_loads() -> None:
    records = [timer_gap_record("tcp", 1, 150), timer_gap_record("quic", 1, 528)]
    assert set(outcomes(records).values()) == {"ok"}, "two loads have no median"
    records += [timer_gap_record("tcp", 2, 180), timer_gap_record("quic", 2, 220)]
    judged = judge_all(records)
    found = [judged[record["trial"]["hash"]] for record in records]
    assert [outcome for outcome, _ in found] == ["ok", "capture-incomplete", "ok", "ok"]
    assert "stopped for 528 ms" in found[1][1] and "is 200 ms" in found[1][1]


def test_a_long_task_explains_a_gap_and_a_slow_page_its_own() -> None:
    explained = [timer_gap_record("tcp", n, 150) for n in (1, 2, 3)] + [
        timer_gap_record("tcp", 4, 600, 450)
    ]
    slow = [timer_gap_record("tcp", n, 900) for n in (1, 2, 3)] + [timer_gap_record("tcp", 4, 1500)]
    without = [sample_record(repetition=n) for n in (1, 2, 3, 4)]
    for records in (explained, slow, without):
        assert {outcome for outcome, _ in judge_all(records).values()} == {"ok"}


def variant_record(variant: str, repetition: int, **changes: Any) -> dict[str, Any]:
    return sample_record(stack=f"{variant}/quic", repetition=repetition) | changes


def test_what_variants_differ_in_is_no_fault_of_the_instrument() -> None:
    """Other requests missed and another last picture, of one variant in every block."""
    pr = {**miss("https://a.example/new"), "browser": {"final_picture": BLACK}}
    main = {"browser": {"final_picture": GREY}}
    records = [
        variant_record(name, repetition, **of)
        for repetition in range(1, 6)
        for name, of in (("main", main), ("pr", pr))
    ]
    assert {outcome for outcome, _ in judge_all(records).values()} == {"ok"}


def test_a_load_that_differs_from_its_own_variant_is_left_out() -> None:
    pictures = [GREY, GREY, GREY, GREY, BLACK]
    records = [
        variant_record("main", repetition, browser={"final_picture": picture})
        for repetition, picture in enumerate(pictures, start=1)
    ]
    other = {"browser": {"final_picture": BLACK}}
    records += [variant_record("pr", repetition, **other) for repetition in range(1, 6)]
    judged = judge_all(records)
    found = [judged[record["trial"]["hash"]][0] for record in records]
    assert found == ["ok"] * 4 + ["different-page"] + ["ok"] * 5
