"""Measure the level of two stacks over a few networks, within four minutes.

Both alternate in every scenario, so that disturbances affect them equally. First every scenario
gets the runs that an interval needs; then unclear ones get more of them, while time lasts.

Measure by how many milliseconds an aspect changes a load.

One of the two stacks is compared with itself with one setting changed, over the generated page.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import SAMPLES_MIN, SCENARIOS, Scenario, difference
from eyelevel.calibration.level.rows import Effect, Row, Run, count, pending, rows_of
from eyelevel.calibration.measuring.cache import Effects, RunCache, browser_version
from eyelevel.calibration.measuring.runs import MOVED, Recordings, run_scenario
from eyelevel.calibration.validation.stacks import build
from eyelevel.load.host import HostSample
from eyelevel.load.quiet_host import WAIT_S_MAX, HostWait, remember
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import OF_BROWSER, stack_in_force
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import are_variants
from eyelevel.store.disk import temporary_folder

BUDGET_S = 225.0
"""The time for runs, out of the four minutes that two stacks may take the first time."""
LIMIT_S = 235.0
"""The limit for all runs; the same command later measures the rest."""
RUNS_MAX = 9
"""The most runs of each stack in a scenario; a value still unclear then is too close to its
margin."""
OUT_OF_TIME = (
    "time ran out before every scenario had enough runs; the same command continues where it "
    "stopped"
)
WITHOUT_WAYS = (
    "measured without the plan's `origin_rtt`: the made page has none of its hosts, and the round "
    "trips of the three made networks"
)
"""The note on a plan with these conditions, which are not measured."""
RESERVE = 1.5
"""The factor on the time of needed runs, since some fail and are repeated."""
SPARE_SHARE = 0.25
"""The share of the remaining time that a run may wait: later runs may have to wait as well."""
FAILED_MAX = 4
"""The most runs without a result per scenario and stack: either the machine is busy or there is a
fault."""


@dataclass(frozen=True)
class Level:
    """The level of two stacks, given by name. `failed`: the distinct errors of runs."""

    first: str
    second: str
    rows: tuple[Row, ...]
    failed: tuple[str, ...]
    complete: bool
    """Whether every scenario has the runs that an interval needs."""

    def as_json(self) -> JsonObject:
        """Return the JSON of `--json` and `environment.json`."""
        return {
            **build(),
            "browser": browser_version(),
            "first": self.first,
            "second": self.second,
            "complete": self.complete,
            "failed": list(self.failed),
            "rows": [row.as_json() for row in self.rows],
        }


@dataclass(frozen=True)
class Step:
    """The step that begins: run `number` of `runs_min` needed ones, or one for an unclear value.

    `left_s` estimates the time of needed runs, `left_s_max` bounds that of all.
    """

    scenario: str
    stack: str
    number: int
    runs_min: int
    left_s: float
    left_s_max: float

    @property
    def once_more(self) -> bool:
        """Whether all needed runs are done."""
        return self.number > self.runs_min


def read_level(first: Stack, second: Stack) -> Level | None:
    """Return the level of a pair from this machine's cached runs; None if there are none."""
    kept = RunCache((first, second))
    runs = kept.runs()
    return _level((first, second), runs, kept.effects(), ()) if runs else None


def levels_of(plan: Plan) -> list[JsonObject]:
    """Return the measured levels of the pairs that a report compares.

    Levels exist for the installed Chromium only, without a plan's switches. A plan with unusual
    visits or connection types needs levels that were measured with the same ones.
    """
    measured = (read_level(*pair) for pair in list_level_pairs(plan))
    return [level.as_json() for level in measured if level is not None]


def list_level_pairs(plan: Plan) -> list[tuple[Stack, Stack]]:
    """Return the compared pairs of stacks whose level can be measured, reference first."""
    stacks = {stack.name: stack for stack in stacks_of(plan)}
    return [
        (stacks[each.reference], stacks[each.stack])
        for each in plan.comparisons
        if not are_variants(each)
        and all(plan.browser_of(one).is_installed_chromium for one in (each.reference, each.stack))
    ]


def stacks_of(plan: Plan) -> list[Stack]:
    """Return a plan's stacks as the level measures them, with the browser's unusual settings."""
    usual = Browser()
    stacks = []
    for stack in plan.stacks:
        browser = plan.browser_of(stack.name)
        given = {name: getattr(stack, name) or getattr(browser, name) for name in OF_BROWSER}
        apart: JsonObject = {
            name: value if value != getattr(usual, name) else None for name, value in given.items()
        }
        # The generated page has none of the plan's origins, so `origin_rtt` cannot be measured.
        stacks.append(replace(stack, origin_rtt=None, **apart))
    return stacks


def levels_among(stacks: Sequence[Stack]) -> list[JsonObject]:
    """Return the measured levels of all pairs of these stacks."""
    measured = (read_level(one, two) for one, two in combinations(stacks, 2))
    return [level.as_json() for level in measured if level is not None]


def validate_level(
    first: Stack,
    second: Stack,
    on_step: Callable[[Step], None],
    *,
    fresh: bool = False,
    budget_s: float = BUDGET_S,
    limit_s: float = LIMIT_S,
    scenarios: Sequence[Scenario] = SCENARIOS,
) -> Level:
    """Measure what is not cached yet, and return the level. Raises LabError if no lab can be built.

    `budget_s`: the time for all runs that are not necessary for intervals. `limit_s`: the time for
    all runs; one that does not fit is not started. Each waits for the machine while there is time
    for it. An interruption passes through; completed runs stay in the cache.
    """
    kept = RunCache((first, second))
    if fresh:
        kept.forget()
    runs = kept.runs()
    work = _Work((first, second), runs, scenarios)
    began_s = time.monotonic()
    with temporary_folder("level") as folder:
        recordings: Recordings | None = None
        while True:
            gone_s = time.monotonic() - began_s
            task = work.next(budget_s - gone_s, limit_s - gone_s)
            if task is None:
                break
            scenario, side = task
            if recordings is None:
                sizes = {scenario.body_bytes for scenario in scenarios if scenario.body_bytes}
                recordings = Recordings.write(folder, sizes)
            stack = (first, second)[side]
            on_step(work.step(scenario, stack, budget_s - gone_s, limit_s - gone_s))
            HostWait(limit_s=min(WAIT_S_MAX, work.spare_s(scenario, limit_s - gone_s))).wait()
            run = work.measure(scenario, side, stack, recordings)
            if run is not None:
                kept.add(run)
            elif work.hopeless:
                raise LabError(work.errors[0])
    level = _level((first, second), work.runs, kept.effects(), tuple(dict.fromkeys(work.errors)))
    if work.out_of_time:
        level = replace(level, failed=(*level.failed, OUT_OF_TIME))
    return level


class _Work:
    """The schedule of runs: which is next, and how long each takes."""

    def __init__(
        self, stacks: tuple[Stack, Stack], runs: Sequence[Run], scenarios: Sequence[Scenario]
    ) -> None:
        self.runs = list(runs)
        self.errors: list[str] = []
        self._stacks = stacks
        self._scenarios = scenarios
        self._failed: dict[tuple[str, int], int] = {}
        self._took_s: dict[str, list[float]] = {}
        self._tried = 0
        self.out_of_time = False

    def next(self, budget_left_s: float, limit_left_s: float) -> tuple[Scenario, int] | None:
        """Return the scenario and side with the fewest runs; unclear ones once all have enough."""
        wanted = [
            (self._count(scenario.name, side), place, scenario, side)
            for place, scenario in enumerate(self._scenarios)
            for side in self._sides(scenario.name)
            if not self._has_given_up(scenario, side)
        ]
        least = [entry for entry in wanted if entry[0] < SAMPLES_MIN]
        if least:
            fitting = [entry for entry in least if self._expected_s(entry[2]) < limit_left_s]
            self.out_of_time = not fitting
            if not fitting:
                return None
            _, _, scenario, side = min(fitting, key=lambda entry: entry[:2])
            return scenario, side
        unknown = pending(_rows(self._stacks, self.runs))
        more = [
            entry
            for entry in wanted
            if entry[2].name in unknown
            and entry[0] < RUNS_MAX
            and self._expected_s(entry[2]) < min(budget_left_s, limit_left_s)
        ]
        if not more:
            return None
        _, _, scenario, side = min(more, key=lambda entry: entry[:2])
        return scenario, side

    def _has_given_up(self, scenario: Scenario, side: int) -> bool:
        return self._failed.get((scenario.name, side), 0) >= FAILED_MAX

    @property
    def hopeless(self) -> bool:
        """Whether runs of this command failed FAILED_MAX times and none gave a result."""
        return not self.runs and sum(self._failed.values()) >= FAILED_MAX

    def step(
        self, scenario: Scenario, stack: Stack, budget_left_s: float, limit_left_s: float
    ) -> Step:
        """Return the step that is about to begin."""
        missing = self._missing()
        runs_min = SAMPLES_MIN * len(missing)
        needed = sum(count for _, count in missing)
        left_s = min(self._needed_s(), limit_left_s)
        left_s_max = limit_left_s if needed else min(budget_left_s, limit_left_s)
        return Step(scenario.name, stack.name, runs_min - needed + 1, runs_min, left_s, left_s_max)

    def _missing(self) -> list[tuple[Scenario, int]]:
        """Return the number of runs that each scenario and side still needs."""
        return [
            (scenario, 0 if self._has_given_up(scenario, side) else max(0, SAMPLES_MIN - have))
            for scenario in self._scenarios
            for side in (0, 1)
            for have in (self._count(scenario.name, side),)
        ]

    def _needed_s(self) -> float:
        return sum(self._expected_s(scenario) * count for scenario, count in self._missing())

    def spare_s(self, scenario: Scenario, limit_left_s: float) -> float:
        """Return how long a run may wait for the machine, in s: a share of the unneeded time."""
        needed_s = max(self._needed_s(), self._expected_s(scenario)) * RESERVE
        return max(0.0, limit_left_s - needed_s) * SPARE_SHARE

    def measure(
        self, scenario: Scenario, side: int, stack: Stack, recordings: Recordings
    ) -> Run | None:
        """Measure one run; return None if it failed."""
        began_s = time.monotonic()
        self._tried += 1
        try:
            values = run_scenario(scenario, stack, recordings, self._tried)
        except LabError as error:
            key = (scenario.name, side)
            self._failed[key] = self._failed.get(key, 0) + 1
            self.errors.append(f"{scenario.name}, {stack.name}: {error}")
            return None
        finally:
            ended_s = time.monotonic()
            self._took_s.setdefault(scenario.name, []).append(ended_s - began_s)
            if scenario.kind != "page":  # loads record their own end
                remember(HostSample.take(ended_s))
        run = Run(scenario.name, side, values)
        self.runs.append(run)
        return run

    def _sides(self, scenario: str) -> tuple[int, int]:
        """Return the order of the two stacks, which alternates from round to round."""
        return (0, 1) if self._count(scenario, 0) % 2 == 0 else (1, 0)

    def _count(self, scenario: str, side: int) -> int:
        return count(self.runs, scenario, side)

    def _expected_s(self, scenario: Scenario) -> float:
        took = self._took_s.get(scenario.name)
        return sum(took) / len(took) if took else scenario.expected_s


def _rows(stacks: tuple[Stack, Stack], runs: Sequence[Run]) -> list[Row]:
    return rows_of(runs, in_force_of(stacks))


def in_force_of(stacks: tuple[Stack, Stack]) -> tuple[Stack, Stack]:
    """Return both stacks as in force on the first network."""
    network = SCENARIOS[0].network
    return stack_in_force(stacks[0], network), stack_in_force(stacks[1], network)


def _level(
    stacks: tuple[Stack, Stack],
    runs: Sequence[Run],
    effects: Effects,
    failed: tuple[str, ...],
) -> Level:
    rows = rows_of(runs, in_force_of(stacks), effects)
    complete = all(min(row.runs) >= SAMPLES_MIN for row in rows)
    return Level(stacks[0].name, stacks[1].name, tuple(rows), failed, complete)


PAGES = tuple(scenario for scenario in SCENARIOS if scenario.kind == "page")


def measure_effects(first: Stack, second: Stack, on_step: Callable[[Step], None]) -> Effects:
    """Measure the effects of all aspects that a single setting of one stack can change.

    The effects are cached with the pair. Cached runs of a stack and its changed twin are reused.
    Raises LabError as `validate_level`.
    """
    effects: Effects = {}
    for aspect in ASPECTS:
        for stack in (second, first):
            switched = _switch_setting(stack, aspect.switch) if aspect.switch else None
            if switched is not None:
                validate_level(stack, switched, on_step, scenarios=PAGES, budget_s=0.0)
                effects[aspect.name] = _compute_changes(RunCache((stack, switched)).runs())
                break
    RunCache((first, second)).keep_effects(effects)
    return effects


def _switch_setting(stack: Stack, switch: JsonMapping) -> Stack | None:
    """Return the stack with the setting changed; None if that is invalid or changes nothing."""
    if all(getattr(stack, name) == value for name, value in switch.items()):
        return None
    switches = ", ".join(f"{name}={value}" for name, value in switch.items())
    changed = replace(stack, name=f"{stack.name} {switches}", **switch)
    return None if changed.refusal() else changed


def _compute_changes(runs: list[Run]) -> Effect:
    by_title = {}
    for scenario in PAGES:
        for name, title in MOVED.items():
            sides = [
                [
                    run.values[name]
                    for run in runs
                    if (run.scenario, run.side) == (scenario.name, side) and name in run.values
                ]
                for side in (0, 1)
            ]
            moved = difference(sides[0], sides[1], "mean")
            if moved.determined:
                by_title[f"{title} on {scenario.network.name}"] = moved
    return by_title
