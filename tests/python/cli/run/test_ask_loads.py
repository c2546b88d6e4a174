"""`ask` with settings of its loads: they are the plan's, and part of the results' name."""

import sys
from pathlib import Path
from typing import Any

import pytest

from eyelevel.cli import main
from eyelevel.cli.run import ask
from eyelevel.plan.plan import Plan


class PlannedError(Exception):
    """Ends the command where its loads would begin."""


def ask_for_plan(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[Plan, Path]:
    def stop(plan: Plan, directory: Path, **_: Any) -> None:
        raise PlannedError(plan, directory)

    monkeypatch.setattr(ask, "run_plan", stop)
    monkeypatch.setattr(sys, "argv", ["eyelevel", "ask", "plain", "--networks", "dsl", *words])
    with pytest.raises(PlannedError) as caught:
        main.main()
    return caught.value.args  # type: ignore[return-value]


CHANGES = ("http3", "insert_head:<meta name='a'>")


@pytest.mark.parametrize("change", CHANGES)
def test_device_and_browser_are_those_of_all_loads(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--device", "moto-g", "--cpu-slowdown", "2.5", "--metric", "lcp"]
    plan, directory = ask_for_plan(monkeypatch, "--change", change, *words)
    assert plan.browser.device is not None and plan.browser.device.name == "moto-g"
    assert (plan.browser.slowdown, plan.primary_metric) == (2.5, "largest_contentful_paint_ms")
    assert directory.name.endswith("-lcp-moto-g-2.5")
    plan, directory = ask_for_plan(monkeypatch, "--change", change, "--browser", "firefox")
    assert not plan.browser.is_chromium and directory.name.endswith("-firefox")
    plan, directory = ask_for_plan(monkeypatch, "--change", change)
    assert plan.browser.device is None and plan.browser.is_chromium


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--device", "moto-x"), "unknown device `moto-x`; did you mean `moto-g`?"),
        (("--cpu-slowdown", "0.5"), "`cpu_slowdown`: Input should be greater"),
        (("--browser", "firefox", "--cpu-slowdown", "4"), "Firefox cannot slow down"),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_any_load(
    words: tuple[str, ...],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["eyelevel", "ask", "plain", "--change", "http3", *words])
    assert main.main() == 2
    said = capsys.readouterr().err
    assert reason in said and said.count("\n") == 1
