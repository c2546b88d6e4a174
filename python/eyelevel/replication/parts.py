"""Plan the runs that answer a text's claims: one for each network, the most telling first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from eyelevel.base.errors import PlanError, unknown
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.file.narrow import Narrowing, narrow_plan
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text
from eyelevel.plan.synthetic_site import PREFIX
from eyelevel.replication.claims import Claims, ClaimsError

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

    @property
    def claims_per_hour(self) -> float:
        """How many claims it decides in an hour of loads, by which parts are ordered."""
        return 3600 * self.part.claims / (self.repetition_s * self.plan.blocks)


def list_parts(claims: Claims, shipped: Sequence[str], narrowing: Narrowing) -> list[Part]:
    """Return a part for each network that claims of the narrowed presets name.

    A preset whose sites are made for its claims, such as those of one origin, keeps them. Raises
    `PlanError` for a narrowing that no claim fits, and `ClaimsError` for a network or stack that a
    preset does not have.
    """
    _check_narrowing(claims, narrowing)
    parts = []
    for preset in claims.text.plans:
        whole = preset_text(preset, shipped, () if _has_own_sites(preset) else narrowing.sites)
        needed: dict[str, dict[Comparison, None]] = {}
        deciding: dict[str, set[str]] = {}
        for claim in claims.of_plan(preset):
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
            parts.append(Part(preset, network, len(deciding[network]), text))
    return parts


def order_parts(timed: Sequence[Timed]) -> list[Timed]:
    """Return the parts by the claims that they decide in an hour, the most first."""
    return sorted(timed, key=lambda each: (-each.claims_per_hour, each.part.folder))


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
    """Return the parts with their plans and times, ordered (`order_parts`)."""
    plans = [parse(part) for part in parts]
    return order_parts(
        [Timed(part, plan, seconds(plan)) for part, plan in zip(parts, plans, strict=True)]
    )


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


def _has_own_sites(preset: str) -> bool:
    """Return whether a preset's sites are made for its question, and no sample of pages."""
    sites = PRESETS_BY_NAME[preset].sites
    return bool(sites) and not sites[0].startswith(f"{PREFIX}like=")


def _is_chosen(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
