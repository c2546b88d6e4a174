"""Which exit status a run or a question without an answer ends with."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from synthetic_run import write_run

from eyelevel.analysis import claims
from eyelevel.cli import main
from eyelevel.cli.results import report
from eyelevel.cli.run import ask
from eyelevel.cli.run import run as command
from eyelevel.run.study.loop import Failure, RunResult
from eyelevel.store.directory import read_document

CHANGE = ("--change", "http3", "--networks", "dsl,lte")


def call(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr("sys.argv", ["eyelevel", *map(str, words)])
    return main.main()


@pytest.mark.parametrize("extra", [(), ("--inconclusive", "pass")])
def test_a_run_whose_loads_all_fail_names_the_cause(
    extra: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = write_run(tmp_path)
    trial = read_document(tmp_path, "plan.json")["trials"][0]["hash"]
    failure = Failure("browser-crashed", 4, ("a", "b"), trial)
    for name, stand_in in (
        ("read_plan", lambda *_, **__: plan),
        ("open_pages", lambda _: []),
        ("prepare", lambda *_, **__: []),
        ("run_trials", lambda *_, **__: RunResult(tmp_path, 36, 4, False, failure=failure)),
    ):
        monkeypatch.setattr(command, name, stand_in)
    assert call(monkeypatch, "run", "plan.toml", "--out", tmp_path, *extra) == main.EXIT_ALL_FAILED
    said = capsys.readouterr().err
    assert "all 4 loads so far, of a and b, ended as `browser-crashed`" in said
    assert f"remove {tmp_path}" in said
    assert read_document(tmp_path, "status.json")["ending"] == "interrupted"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`ask` whose two networks have these verdicts; its exit status."""

    def call_with(verdicts: list[str | None], *words: str, blocks: int = 5) -> int:
        gains = [SimpleNamespace(metric="m", network=name, stack="s") for name in ("dsl", "lte")]
        results = SimpleNamespace(
            gains=[*gains, SimpleNamespace(metric="other", network="dsl")],
            primary_metric="m",
            blocks=SimpleNamespace(kept=SimpleNamespace(height=blocks)),
        )
        by_gain = dict(zip(map(id, gains), verdicts, strict=True))
        summary = report.Summary(results, tmp_path / "report.html")
        for module, name, stand_in in (
            (ask, "run_plan", lambda *_, **__: None),
            (ask, "make_report", lambda _: summary),
            (ask, "_print_answer", lambda _: None),
            (claims, "verdict_of", lambda _, gain: by_gain.get(id(gain))),
        ):
            monkeypatch.setattr(module, name, stand_in)
        return call(monkeypatch, "ask", "plain", *CHANGE, "--out", str(tmp_path), *words)

    return call_with


@pytest.mark.parametrize("verdict", ["faster", "slower", "no difference that matters"])
def test_a_question_with_its_answers_ends_well(asked: Any, verdict: str) -> None:
    assert asked([verdict, "faster"]) == 0


@pytest.mark.parametrize("open_", [*claims.UNDECIDED, None])
def test_a_question_without_a_verdict_is_inconclusive(
    asked: Any, open_: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(["faster", open_]) == 3
    assert "inconclusive: no verdict on lte;" in capsys.readouterr().err
    assert asked(["faster", open_], "--inconclusive", "fail") == 1
    assert asked(["faster", open_], "--inconclusive", "pass") == 0


@pytest.mark.parametrize("worse", ["slower", "fewer loads finished"])
def test_a_change_that_may_not_be_slower_fails_if_it_is(
    asked: Any, worse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for other in ("faster", claims.UNDECIDED[0]):  # whatever the other network has
        assert asked([other, worse], "--fail-if-slower", "--inconclusive", "pass") == 1
        assert f"failed: s on lte: {worse}; the report" in capsys.readouterr().err
    assert asked(["faster", worse]) == 0


def test_a_change_that_may_not_be_slower_passes_or_is_inconclusive(asked: Any) -> None:
    fine = ["faster", "no difference that matters", "slower, by less than matters"]
    for each in fine:
        assert asked([each, "more loads finished"], "--fail-if-slower") == 0
        assert asked([each, claims.UNDECIDED[0]], "--fail-if-slower") == 3
        assert asked([each, None], "--fail-if-slower", "--inconclusive", "fail") == 1


def test_a_question_without_a_complete_block_is_inconclusive(asked: Any) -> None:
    assert asked(["faster", "faster"], blocks=0) == 3
