"""`ask --budget`: as many blocks as the time is enough for."""

import subprocess
import sys

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import PlanError
from eyelevel.cli.run.ask import _blocks_within
from eyelevel.cli.run.plan import open_pages
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.two_pages import pages_plan
from eyelevel.run.study.estimate import estimate

PLAN = parse_plan(
    pages_plan("synthetic:objects=2", "synthetic:objects=3", "quic", ["dsl", "lte"], 60), "question"
)


def test_blocks_take_no_longer_by_the_estimate_than_the_budget() -> None:
    block_s = estimate(PLAN, open_pages(PLAN)).seconds / PLAN.blocks
    for budget, budget_s in (("3min", 180.0), ("200s", 200.0), ("0.1h", 360.0)):
        blocks = _blocks_within(PLAN, budget, 60)
        assert blocks * block_s <= budget_s < (blocks + 1) * block_s
    assert _blocks_within(PLAN, "9h", 60) == 60


def test_the_command_takes_the_budget() -> None:
    words = ["ask", "plain", "--change", "http3", "--budget", "5s"]
    done = subprocess.run(
        [sys.executable, "-m", "eyelevel", *words],
        capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--budget 5s: a verdict takes at least 6 blocks" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--visit cached --cache-age 2d", "--budget 5s: a verdict takes at least 6 blocks"),
        ("--visit cached --cache-age 5w", "`cache_age_s`: `5w` is not a number with one of the"),
        ("--cache-age 2d", "`cache_age_s` is a cached visit's, and this is a first one"),
        ("--visit cached --base tcp+ --change early_data=true", "--visit: early data goes out on"),
    ],
)
def test_a_question_is_about_one_kind_of_visit(options: str, said: str) -> None:
    words = ["ask", "plain", "--change", "http3", "--budget", "5s", *options.split()]
    done = subprocess.run(
        [sys.executable, "-m", "eyelevel", *words],
        capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ("20s", r"takes at least 6 blocks, which take \d+ s by the estimate"),
        ("0s", "6 blocks"),
        ("soon", "`--budget soon`"),
        ("6", "`--budget 6`"),
        ("-3min", "`--budget -3min`"),
    ],
)
def test_a_budget_that_is_too_small_or_no_time_is_refused(budget: str, reason: str) -> None:
    with pytest.raises(PlanError, match=reason):
        _blocks_within(PLAN, budget, 60)
