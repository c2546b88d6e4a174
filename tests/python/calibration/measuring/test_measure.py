"""Which run is next, what is kept, and what an interruption leaves: with runs that are made up."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.errors import LabError
from eyelevel.calibration.level.classes import SAMPLES_MIN, SCENARIOS_BY_NAME
from eyelevel.calibration.measuring import cache as level_cache
from eyelevel.calibration.measuring import measure as level_validation
from eyelevel.calibration.measuring.measure import (
    LIMIT_S,
    OUT_OF_TIME,
    RUNS_MAX,
    Step,
    levels_of,
    list_level_pairs,
    read_level,
    stacks_of,
    validate_level,
)
from eyelevel.cli.reference.level import JSON_KEYS
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.plan.browser import Browser, BrowserChange
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.variants import Variant, with_variants

TCP, QUIC = STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"]
BULK = [SCENARIOS_BY_NAME["bulk on far"]]
RUN_S = 2.0
"""What a run takes of a clock that is made up, too."""


PLAN = """
sites = ["agency"]
networks = ["dsl"]
stacks = ["tcp", "tcp+", "quic"]
reference = "tcp+"
blocks = 1
"""


class Made:
    """Stands for labs: what each stack gives, and in which order it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ends_after = 1000
        self.fails = False
        self.waits_s: list[float] = []
        self.now_s = 0.0
        self.connect_ms = {"tcp+": [402.0, 402.1], "quic": [202.0, 202.1]}

    def wait(self, limit_s: float):
        self.waits_s.append(limit_s)
        return SimpleNamespace(wait=lambda: 0.0)

    def run(self, scenario, stack, recordings, seed):
        if len(self.asked) == self.ends_after:
            raise KeyboardInterrupt
        self.asked.append(stack.name)
        self.now_s += RUN_S
        if self.fails:
            raise LabError("no lab can be built here")
        own = self.connect_ms[stack.name]
        return {"connect_ms": own[len(self.asked) % len(own)], "tickets": 0.0}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    found = Made()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(level_validation, "run_scenario", found.run)
    monkeypatch.setattr(level_validation, "HostWait", found.wait)
    monkeypatch.setattr(level_validation.Recordings, "write", lambda *given: None)
    monkeypatch.setattr(level_cache, "build", lambda: {"kernel": "1"})
    monkeypatch.setattr(level_validation, "build", lambda: {"kernel": "1"})
    monkeypatch.setattr(level_validation, "browser_version", lambda: "Chromium 1")
    monkeypatch.setattr(level_cache, "browser_version", lambda: "Chromium 1")
    return found


def measure(**settings):
    return validate_level(TCP, QUIC, lambda step: None, scenarios=BULK, budget_s=0.0, **settings)


def words(level) -> dict[str, str]:
    return {row.aspect: row.word for row in level.rows if row.runs != (0, 0)}


def test_every_key_of_its_json_is_explained(made) -> None:
    explained = {key for keys in JSON_KEYS for key in keys.split(", ")}
    shown = set(measure().as_json()) - {"kernel"}  # the one that the made-up build has
    assert shown < explained
    assert explained - shown == {"eyelevel", "binary", "cache", "kernel"}


def test_stacks_take_turns_and_who_begins_changes(made) -> None:
    assert words(measure())["handshake"] == "inherent"
    assert made.asked == ["tcp+", "quic", "quic", "tcp+", "tcp+", "quic"]
    assert len(made.asked) == 2 * SAMPLES_MIN


def test_what_was_measured_is_not_measured_again_but_fresh(made) -> None:
    first = measure()
    assert measure() == first
    assert len(made.asked) == 2 * SAMPLES_MIN
    measure(fresh=True)
    assert len(made.asked) == 4 * SAMPLES_MIN


def test_an_interrupted_measurement_goes_on_where_it_was(made) -> None:
    made.ends_after = 4
    with pytest.raises(KeyboardInterrupt):
        measure()
    assert not read_level(TCP, QUIC).complete
    made.ends_after = 1000
    measure()
    assert len(made.asked) == 2 * SAMPLES_MIN


def steps(budget_s: float) -> list[Step]:
    found: list[Step] = []
    validate_level(TCP, QUIC, found.append, scenarios=BULK, budget_s=budget_s)
    return found


def test_steps_are_counted_and_what_is_there_is_not_counted_again(made, monkeypatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: made.now_s)
    monkeypatch.setattr(level_validation, "time", clock)
    monkeypatch.setattr(level_validation, "remember", lambda sample: None)
    made.ends_after = 2
    with pytest.raises(KeyboardInterrupt):
        measure()
    made.ends_after = 1000
    said = steps(0.0)
    assert [each.number for each in said] == [3, 4, 5, 6]
    assert {each.runs_min for each in said} == {2 * SAMPLES_MIN}
    assert not any(each.once_more for each in said)
    # The first of them has no run of this measurement to go by.
    assert [each.left_s for each in said] == [4 * BULK[0].expected_s, 3 * RUN_S, 2 * RUN_S, RUN_S]
    assert all(each.left_s <= each.left_s_max <= LIMIT_S for each in said)


def test_a_step_more_is_of_what_is_unknown_and_has_the_time_that_is_left_at_most(made) -> None:
    made.connect_ms["quic"] = [150.0, 250.0, 210.0]
    more = [each for each in steps(1e6) if each.once_more]
    assert more and all(0 == each.left_s < each.left_s_max <= LIMIT_S for each in more)


def test_another_kernel_browser_or_setting_is_measured_anew(made, monkeypatch) -> None:
    measure()
    assert read_level(TCP, replace(QUIC, name="other")) is not None
    assert read_level(TCP, replace(QUIC, pacing=False)) is None
    with monkeypatch.context() as other:
        other.setattr(level_cache, "code_digest", lambda: "other")
        assert read_level(TCP, QUIC) is None
    assert read_level(TCP, QUIC) is not None
    monkeypatch.setattr(level_cache, "browser_version", lambda: "Chromium 2")
    assert read_level(TCP, QUIC) is None


def test_code_that_measures_is_part_of_the_build_and_its_tests_are_not(tmp_path) -> None:
    (tmp_path / "run").mkdir()
    files = [tmp_path / "run" / name for name in ("level.py", "test_level.py")]
    digests = set()
    for text in ("one", "two"):
        for file in files:
            file.write_text(text)
            digests.add(level_cache.digest_of(tmp_path, ("run",)))
    assert len(digests) == 2


def test_a_pair_is_known_in_either_order(made) -> None:
    measure()
    there, back = read_level(TCP, QUIC), read_level(QUIC, TCP)
    assert words(there) == words(back)
    (row,) = (row for row in back.rows if row.aspect == "handshake")
    assert (round(row.first), round(row.second)) == (202, 402)


def test_a_run_keeps_what_was_measured_of_its_pairs_in_the_same_conditions(made) -> None:
    measure()
    plan = parse_plan(PLAN, "plan.toml")
    (level,) = levels_of(plan)
    assert (level["first"], level["second"], level["browser"]) == ("tcp+", "quic", "Chromium 1")
    assert levels_of(replace(plan, browser=Browser(visitor="known"))) == []
    assert levels_of(replace(plan, browser=Browser(browser="firefox"))) == []
    assert levels_of(replace(plan, comparisons=(Comparison("quic", "tcp"),))) == []


@pytest.mark.parametrize(
    "browser",
    [
        {"browser": "firefox"},
        {"chromium": "/opt/chromium"},
        {"chromium_flags": ("--disable-features=A",)},
    ],
)
def test_a_variant_in_another_browser_has_no_level(made, browser) -> None:
    plan = parse_plan(PLAN, "plan.toml")
    variants = (Variant("main"), Variant("pr", browser=BrowserChange(**browser)))
    pairs = [Comparison(f"{name}/quic", f"{name}/tcp+") for name in ("main", "pr")]
    both = replace(
        plan,
        variants=variants,
        stacks=with_variants(plan.stacks, variants),
        comparisons=tuple(pairs),
    )
    found = [(one.name, two.name) for one, two in list_level_pairs(both)]
    assert found == [("main/tcp+", "main/quic")]
    assert list_level_pairs(replace(plan, browser=Browser(**browser))) == []


def test_stacks_of_a_plan_have_what_its_browser_is_told(made) -> None:
    plan = parse_plan(PLAN, "plan.toml")
    assert [stack.visitor for stack in stacks_of(plan)] == [None] * 3
    known = replace(plan, browser=Browser(visitor="known"))
    stacks = {stack.name: stack for stack in stacks_of(known)}
    assert stacks["quic"].visitor == "known"
    validate_level(stacks["tcp+"], stacks["quic"], lambda step: None, scenarios=BULK, budget_s=0.0)
    (level,) = levels_of(known)
    assert (level["first"], level["second"]) == ("tcp+", "quic")
    assert levels_of(plan) == []


def test_stacks_of_a_plan_are_measured_without_the_ways_to_its_origins() -> None:
    """The made page has none of them; what else two stacks differ in is found all the same."""
    plan = parse_plan(PLAN, "plan.toml")
    far = tuple(replace(stack, origin_rtt={"cdn.example": 90.0}) for stack in plan.stacks)
    assert stacks_of(replace(plan, stacks=far)) == stacks_of(plan)


def test_what_is_unknown_gets_more_runs_while_the_time_lasts(made) -> None:
    made.connect_ms["quic"] = [150.0, 250.0, 210.0]  # a mean that no run of three can tell
    measure()
    assert len(made.asked) == 2 * SAMPLES_MIN
    validate_level(TCP, QUIC, lambda step: None, scenarios=BULK, budget_s=1e9)
    assert 2 * SAMPLES_MIN < len(made.asked) <= 2 * RUNS_MAX


def test_a_machine_on_which_nothing_runs_says_why(made) -> None:
    made.fails = True
    with pytest.raises(LabError, match="no lab can be built here"):
        measure()
    assert read_level(TCP, QUIC) is None


def test_a_line_that_broke_off_is_left_out(made) -> None:
    measure()
    (file,) = level_cache.folder().glob("*.jsonl")
    text = file.read_text()
    file.write_text(text[: len(text) - 9])
    assert len(level_cache.RunCache((TCP, QUIC)).runs()) == 2 * SAMPLES_MIN - 1
    # What comes after it begins a line of its own.
    measure()
    assert len(level_cache.RunCache((TCP, QUIC)).runs()) == 2 * SAMPLES_MIN


def test_a_file_that_is_no_text_is_measured_anew_and_not_told_as_a_fault(made) -> None:
    measure()
    (file,) = level_cache.folder().glob("*.jsonl")
    file.write_bytes(b"\xff\xfe" + file.read_bytes())
    assert len(level_cache.RunCache((TCP, QUIC)).runs()) == 2 * SAMPLES_MIN


@pytest.mark.parametrize("text", ['{"handshake": {"load', "[]", '"text"', '{"handshake": 3}'])
def test_effects_that_broke_off_are_none(made, text) -> None:
    kept = level_cache.RunCache((TCP, QUIC))
    kept.keep_effects({"handshake": {"load time on far": Estimate(1.0, 0.0, 2.0)}})
    (file,) = level_cache.folder().iterdir()
    file.write_text(text)
    assert kept.effects() == {}


def test_a_run_that_does_not_fit_into_the_time_is_not_begun_and_the_rest_is_later(made) -> None:
    found = measure(limit_s=BULK[0].expected_s / 2)
    assert (made.asked, found.complete, found.failed) == ([], False, (OUT_OF_TIME,))
    assert {row.word for row in found.rows} == {"unknown"}
    again = measure()
    assert (words(again)["handshake"], again.failed) == ("inherent", ())


def test_runs_wait_for_the_machine_with_the_time_that_no_other_needs(made) -> None:
    needed_s = 2 * SAMPLES_MIN * BULK[0].expected_s
    measure(limit_s=1.5 * needed_s + 8.0)
    assert made.waits_s[0] == pytest.approx(2.0, abs=0.2)
    measure(limit_s=1000.0, fresh=True)
    assert made.waits_s[-1] == WAIT_S_MAX
    assert all(0.0 <= each <= WAIT_S_MAX for each in made.waits_s)
    measure(limit_s=BULK[0].expected_s * 1.5, fresh=True)
    # Of the first one of them nothing is known but what it is expected to take.
    assert made.waits_s[-2 * SAMPLES_MIN] == 0.0
