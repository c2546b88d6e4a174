"""Plan the runs that answer a text's claims: one for each network, the most telling first."""

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product

from eyelevel.base.errors import PlanError, unknown
from eyelevel.load.servers.recipes import get_recipe
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.file.narrow import Narrowing, dump_toml, narrow_plan
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.synthetic_site import PREFIX
from eyelevel.replication.claims import Claims, ClaimsError, FollowUp
from eyelevel.replication.expected import Loads, Scatter
from eyelevel.run.study.estimate import find_load_ms

BLOCKS_LEAST = 2
"""The fewest loads of each site and stack with which a run is begun, if the time allows more."""


@dataclass(frozen=True)
class Part:
    """One run: a preset on one network, with the stacks and comparisons that claims need."""

    preset: str
    network: str
    claims: int
    """How many claims it can decide, alone or with other parts."""
    text: str
    """Its plan as TOML."""

    @property
    def folder(self) -> str:
        """The name of its directory."""
        return f"{self.preset}-{self.network}"


@dataclass(frozen=True)
class Timed:
    """A part with its parsed plan and the estimated time of one repetition."""

    part: Part
    plan: Plan
    repetition_s: float
    decisions: float = 0.0
    """The expected number of claims that its loads decide, of `blocks` blocks."""
    blocks: int = 1
    """The number of blocks: all of the plan, or those that fit the budget."""

    @property
    def decisions_per_hour(self) -> float:
        """The number of decisions that an hour of its loads brings, by which parts are ordered."""
        return 3600 * self.decisions / (self.repetition_s * self.blocks)


def list_parts(
    claims: Claims, shipped: Sequence[str], narrowing: Narrowing, *, follow_up: bool = False
) -> list[Part]:
    """Return a part for each network that claims of the narrowed presets name.

    With `follow_up` also for those of the text's follow-ups, whose server must be installed. A
    preset whose sites are made for its claims, such as those of one origin, keeps them. Raises
    `PlanError` for a narrowing that no claim fits, and `ClaimsError` for a network or stack that a
    preset does not have.
    """
    _check_narrowing(claims, narrowing)
    parts = []
    again = claims.follow_ups if follow_up else ()
    for preset, follows in product(claims.text.plans, (None, *again)):
        whole = preset_text(preset, shipped, () if _has_own_sites(preset) else narrowing.sites)
        needed: dict[str, dict[Comparison, None]] = {}
        deciding: dict[str, set[str]] = {}
        asked = claims.of_follow_up(follows, preset) if follows else claims.of_plan(preset)
        for claim in asked:
            for network, comparison in sorted(claim.cells):
                stack, _, reference = comparison.partition("/")
                if not _is_chosen(network, narrowing.networks):
                    continue
                if narrowing.stacks and not {stack, reference} <= set(narrowing.stacks):
                    continue
                compared = needed.setdefault(network, {})
                if Comparison(reference, stack) not in compared:  # the loads are the same
                    compared[Comparison(stack, reference)] = None
                deciding.setdefault(network, set()).add(claim.id)
        for network, comparisons in needed.items():
            stacks = {name for pair in comparisons for name in (pair.stack, pair.reference)}
            narrowed = Narrowing(
                networks=(network,),
                stacks=tuple(sorted(stacks)),
                blocks=narrowing.blocks,
                comparisons=tuple(comparisons),
            )
            try:
                text = narrow_plan(whole, f"preset {preset}", narrowed)
            except PlanError as error:
                problem = str(error).partition(": ")[2]
                raise ClaimsError(
                    f"{claims.text.name}: claims of {preset}: {problem}; correct its `networks`"
                ) from error
            count = len(deciding[network])
            if follows is not None:
                text = _serve(text, follows)
            name = follows.plan_of(preset) if follows else preset
            parts.append(Part(name, network, count, text))
    return parts


def order_parts(timed: Sequence[Timed]) -> list[Timed]:
    """Return the parts by the decisions that an hour brings, the most first.

    Of parts that are expected to decide nothing, which come last, the shortest is first.
    """
    return sorted(
        timed, key=lambda each: (-each.decisions_per_hour, each.repetition_s, each.part.folder)
    )


def expect_decisions(
    claims: Claims, timed: Sequence[Timed], scatter: Scatter, budget_s: float
) -> list[Timed]:
    """Return the parts with the decisions that are expected of the blocks that fit a budget."""
    found = []
    for each in timed:
        fitting = math.inf if math.isinf(budget_s) else budget_s // each.repetition_s
        blocks = int(max(1, min(each.plan.blocks, fitting)))
        loads = Loads(each.plan, blocks, find_load_ms(each.plan, each.repetition_s))
        decisions = loads.expect_decisions(claims.of_plan(each.part.preset), scatter)
        found.append(replace(each, decisions=decisions, blocks=blocks))
    return found


def fit_blocks(timed: Sequence[Timed], budget_s: float) -> list[Timed]:
    """Return the first parts that fit into a time, each with the same number of blocks.

    Parts that do not fit alone are skipped, and those at the end are left out until each of the
    others has BLOCKS_LEAST blocks; a plan's own number is the most. Without any part that fits, the
    list is empty.
    """
    fitting = [
        each
        for each in timed
        if each.repetition_s * min(BLOCKS_LEAST, each.plan.blocks) <= budget_s
    ]
    for count in range(len(fitting), 0, -1):
        chosen = fitting[:count]
        blocks = int(budget_s / sum(each.repetition_s for each in chosen))
        if blocks >= min(BLOCKS_LEAST, *(each.plan.blocks for each in chosen)):
            return [
                replace(each, plan=replace(each.plan, blocks=min(blocks, each.plan.blocks)))
                for each in chosen
            ]
    return []


def time_parts(
    parts: Sequence[Part], parse: Callable[[Part], Plan], seconds: Callable[[Plan], float]
) -> list[Timed]:
    """Return the parts with their plans and times."""
    plans = [parse(part) for part in parts]
    return [Timed(part, plan, seconds(plan)) for part, plan in zip(parts, plans, strict=True)]


def _check_narrowing(claims: Claims, narrowing: Narrowing) -> None:
    """Raise `PlanError` for a network or stack that no claim is about."""
    cells = [
        cell
        for preset in claims.text.plans
        for each in claims.of_plan(preset)
        for cell in each.cells
    ]
    networks = sorted({network for network, _ in cells})
    stacks = sorted({stack for _, pair in cells for stack in pair.split("/")})
    for option, kind, given, known in (
        ("--networks", "network", narrowing.networks, networks),
        ("--stacks", "stack", narrowing.stacks, stacks),
    ):
        for pattern in given:
            if not any(fnmatchcase(name, pattern) for name in known):
                raise PlanError([f"{option}: {unknown(kind, pattern, known)}"])


def _serve(text: str, follow_up: FollowUp) -> str:
    """Return a plan with a follow-up's server. Raises `PlanError` if it is not installed."""
    recipe, document = get_recipe(follow_up.server), tomllib.loads(text)
    stack, served = follow_up.stack, follow_up.stack_name
    server = {
        "command": list(recipe.command),
        "protocols": [STACKS_BY_NAME[stack].http_version],
        "paths": list(recipe.paths),
    }
    table = {"name": served, "base": stack, "external_server": server}
    document["stacks"] = [table if each == stack else each for each in document["stacks"]]
    document["comparisons"] = [
        [served if each == stack else each for each in pair] for pair in document["comparisons"]
    ]
    return dump_toml(document)


def _has_own_sites(preset: str) -> bool:
    """Return whether a preset's sites are made for its question, and no sample of pages."""
    sites = PRESETS_BY_NAME[preset].sites
    return bool(sites) and not sites[0].startswith(f"{PREFIX}like=")


def _is_chosen(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
