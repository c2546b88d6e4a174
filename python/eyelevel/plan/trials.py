"""Expand a plan to its trials: ordered, seeded and hashed.

Order. Repetition is the outermost loop, so that a machine's drift meets every site and network
alike; within a repetition the blocks (site, network) come in random order, and within a block every
stack comes once, in random order (complete randomised blocks).

Randomness. Every random choice is SHA-256 over the plan's seed and the names of what is chosen:
things are put in order by such numbers, and a trial's seed is one. No generator's stream is
involved, so the order is the same on every platform and with every version of Python, and adding a
site, network, stack or repetition changes no seed and no hash of the trials that were there: a
study can grow without running anything again.

Luck is independent. The stacks of a block do not share a seed: their packets differ in number and
size, so equal seeds would not mean equal losses, but they would correlate the first few packets and
break the independence that the unpaired tests assume.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eyelevel.networks import Network, lab_path
from eyelevel.plan.errors import PlanError
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack, stack_settings
from eyelevel.store.hashing import (
    canonical_json,
    content_hash,
    content_hash_of_parts,
    whole_floats_as_integers,
)
from eyelevel.store.schema import RECORD_VERSION

PLAN_DOCUMENT_VERSION = 1
TRIALS_MAX = 1_000_000  # bounds memory: about a kilobyte a trial


@dataclass(frozen=True)
class Site:
    """A recorded site as a plan sees it: its name in tables and its archive's digest."""

    name: str
    digest: str


@dataclass(frozen=True)
class Trial:
    """One load to be done; the fields are those of `trial` in spec/run-record.md."""

    hash: str
    site: str
    site_digest: str
    network: str
    network_settings: Mapping[str, Any]
    stack: str
    stack_settings: Mapping[str, Any]
    arm: str
    browser: Mapping[str, Any]
    block: str
    repetition: int
    position: int
    seed: int

    def record_key(self) -> dict[str, Any]:
        """The record's `trial` object."""
        return asdict(self)

    def lab_path(self, trace_files: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The lab's `path` object."""
        return lab_path(Network.of_settings(self.network, self.network_settings), trace_files)

    def lab_stack(self) -> dict[str, Any]:
        """The lab's `stack` object."""
        return {"name": self.arm, **self.stack_settings}


def expand(plan: Plan, sites: Sequence[Site]) -> list[Trial]:
    """All trials of `plan` on the opened `sites`, in the order in which they are to run.

    Raises PlanError when two sites share name or content, or when there are too many trials.
    """
    _check_sites(sites)
    count = plan.blocks * len(sites) * len(plan.networks) * len(plan.stacks)
    if count > TRIALS_MAX:
        raise PlanError([f"the plan has {count} trials, more than {TRIALS_MAX}; split it"])
    return list(_ordered(plan, sites))


def block_name(site: str, network: str, repetition: int) -> str:
    """The name of a block: the loads that are compared with each other."""
    return f"{site}/{network}/{repetition}"


def plan_document(plan: Plan, sites: Sequence[Site], trials: Sequence[Trial]) -> dict[str, Any]:
    """`plan.json`: the settings, the ordered trials with their hashes, and the plan's own hash."""
    keys = ("hash", "site", "network", "arm", "block", "repetition", "position", "seed")
    return {
        "version": PLAN_DOCUMENT_VERSION,
        "hash": plan_hash(plan, sites),
        **_settings(plan, sites),
        "source": plan.source,
        "trials": [{key: getattr(trial, key) for key in keys} for trial in trials],
    }


def plan_hash(plan: Plan, sites: Sequence[Site]) -> str:
    """The hash of the settings and sites, which determine the trials."""
    return content_hash(_settings(plan, sites))


def _settings(plan: Plan, sites: Sequence[Site]) -> dict[str, Any]:
    return {
        "title": plan.title,
        "sites": [asdict(site) for site in sites],
        "networks": [{"name": each.name, **each.settings()} for each in plan.networks],
        "stacks": [asdict(stack) for stack in plan.stacks],
        "reference": plan.reference,
        "blocks": plan.blocks,
        "seed": plan.seed,
        "primary_metric": plan.primary_metric,
        "smallest_effect_of_interest": plan.smallest_effect_of_interest,
        "browser": asdict(plan.browser),
    }


def random_number(seed: int, *names: str | int) -> int:
    """63 random bits that belong to these names under this seed (63: they fit signed columns)."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def _ordered(plan: Plan, sites: Sequence[Site]) -> Iterator[Trial]:
    hasher = _Hasher()
    browser = whole_floats_as_integers(asdict(plan.browser))
    settings = {each.name: whole_floats_as_integers(each.settings()) for each in plan.networks}
    tuned = {(n.name, s.name): stack_settings(s, n) for n in plan.networks for s in plan.stacks}
    cells = [(site, network) for site in sites for network in plan.networks]
    for repetition in range(1, plan.blocks + 1):
        for site, network in _shuffled_blocks(plan.seed, repetition, cells):
            names = (site.name, network.name, repetition)
            for position, stack in enumerate(_shuffled_stacks(plan, names), start=1):
                determined_by = {
                    "site_digest": site.digest,
                    "network": network.name,
                    "network_settings": settings[network.name],
                    "stack_settings": tuned[network.name, stack.name],
                    "arm": stack.name,
                    "repetition": repetition,
                    "seed": random_number(plan.seed, "trial", *names, stack.name),
                    "browser": browser,
                }
                yield Trial(
                    hash=hasher.trial_hash(determined_by),
                    site=site.name,
                    stack=stack.preset,
                    block=block_name(*names),
                    position=position,
                    **determined_by,
                )


class _Hasher:
    """Trial hashes as `eyelevel.store.schema.trial_hash` has them, each part written once.

    Parts are known by their identity: they live as long as the expansion that uses the hasher.
    """

    def __init__(self) -> None:
        self._written: dict[int, str] = {}

    def trial_hash(self, determined_by: Mapping[str, Any]) -> str:
        parts = {name: self._text(value) for name, value in determined_by.items()}
        return content_hash_of_parts(parts | {"record_version": str(RECORD_VERSION)})

    def _text(self, value: Any) -> str:
        if isinstance(value, int):
            return str(value)
        if id(value) not in self._written:
            self._written[id(value)] = canonical_json(value)
        return self._written[id(value)]


def _shuffled_blocks(
    seed: int, repetition: int, cells: Sequence[tuple[Site, Network]]
) -> list[tuple[Site, Network]]:
    return sorted(
        cells, key=lambda c: random_number(seed, "block", repetition, c[0].name, c[1].name)
    )


def _shuffled_stacks(plan: Plan, names: tuple[str, str, int]) -> list[Stack]:
    return sorted(plan.stacks, key=lambda s: random_number(plan.seed, "order", *names, s.name))


def _check_sites(sites: Sequence[Site]) -> None:
    by_name: dict[str, Site] = {}
    by_digest: dict[str, Site] = {}
    for site in sites:
        if site.name in by_name:
            raise PlanError([f"two sites are named `{site.name}`; rename one file"])
        if other := by_digest.get(site.digest):
            raise PlanError(
                [f"sites `{other.name}` and `{site.name}` are the same recording; drop one"]
            )
        by_name[site.name] = by_digest[site.digest] = site
