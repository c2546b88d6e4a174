"""Expand a plan to its trials: ordered, seeded and hashed.

Order. Repetition is the outermost loop, so that a machine's drift affects every site and network
alike. Within a repetition the blocks (site, network) come in random order, and within a block every
stack comes once, in random order (complete randomised blocks). A plan with variants has each stack
once for every variant, all of them in the block of the page.

Randomness. Every random choice is SHA-256 over the plan's seed and the names of what is chosen:
items are sorted by such numbers, and a trial's seed is one. There is no generator with a state, so
the order is the same on every platform and Python version, and adding a site, network, stack or
repetition changes no seed and no hash of existing trials: a study can grow without repeating loads.

Independence. The stacks of a block do not share a seed: their packets differ in number and size, so
equal seeds would not mean equal losses, but they would correlate the first few packets and break
the independence that the unpaired tests assume. Variants with one stack do share it: their packets
differ where the pages do, so that chance adds nothing to the difference of a pair.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from eyelevel.base.errors import PlanError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import browser_in_force, stack_in_force, stack_message, with_browser
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.networks.origin_rtt import Place, with_own_rtts
from eyelevel.plan.origin_rtts import Own, OwnRtts
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import stack_alone, variant_of
from eyelevel.store.hashing import canonical_json, content_hash, short_hash
from eyelevel.store.schema import RECORD_VERSION

PLAN_DOCUMENT_VERSION = 1
TRIALS_MAX = 1_000_000  # bounds memory: about a kilobyte per trial


@dataclass(frozen=True)
class Site:
    """A recorded site as a plan sees it: name, digest of the archive, bytes of bodies, and hosts.

    The time limit of loads depends on the bytes.
    """

    name: str
    digest: str
    body_bytes: float = 0.0
    places: tuple[Place, ...] = ()
    """Hosts of the site, for which round trips can be set."""
    variants: Mapping[str, "Site"] = field(default_factory=dict)
    """The recordings that variants have in its place, by the variants' names."""

    def of(self, variant: str) -> "Site":
        """Return the recording that a variant loads as this site."""
        return self.variants.get(variant, self)


@dataclass(frozen=True)
class Trial:
    """One planned load; the fields are those of `trial` in spec/run-record.md.

    Its settings are those in force, with no further defaults.
    """

    hash: str
    site: str
    site_digest: str
    network: str
    network_settings: Network
    stack_preset: str
    stack_settings: Stack
    stack: str
    browser: Browser
    block: str
    repetition: int
    position: int
    seed: int

    def record_key(self) -> JsonObject:
        """Return the record's `trial` object."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **values,
            **({"variant": self.variant} if self.variant else {}),
            **_trial_settings(self.network_settings, self.stack_settings, self.browser),
        }

    def lab_path(
        self, trace_files: Mapping[str, str] | None = None, places: Sequence[Place] = ()
    ) -> JsonObject:
        """Return the lab's `path` object.

        Raises `KeyError` if a host with an own round trip has no place.
        """
        path = lab_path(self.network_settings, trace_files)
        return with_own_rtts(path, self.own_rtts_ms, places)

    @property
    def variant(self) -> str:
        """Return the variant of the page that it loads; empty for the plan's own site."""
        return variant_of(self.stack)

    @property
    def recording(self) -> str:
        """Return the key of its recording among those of a run."""
        return recording_key(self.variant, self.site)

    @property
    def own_rtts_ms(self) -> dict[str, float]:
        """Return the origins' additional round trips, ms by host."""
        return {host: float(rtt) for host, rtt in (self.stack_settings.origin_rtt or {}).items()}

    def lab_cross_traffic(self) -> tuple[JsonObject, ...]:
        """Return the lab's `cross_traffic` list."""
        return tuple(kind.stated() for kind in self.network_settings.cross_traffic or ())

    def lab_stack(self) -> JsonObject:
        """Return the lab's `stack` object."""
        # On a first visit nothing resumes, not even a second connection to a host.
        tickets = self.browser.visit == "repeat"
        return {"session_tickets": tickets, **stack_message(self.stack_settings)}


def _trial_settings(network: Network, stack: Stack, browser: Browser) -> JsonObject:
    """Return the settings of a trial as its record has them and its hash covers them."""
    return {
        "network_settings": network.settings(),
        "stack_settings": stack.settings(),
        "browser": browser.stated(),
    }


def expand(plan: Plan, sites: Sequence[Site]) -> list[Trial]:
    """Return all trials of `plan` on the opened `sites`, in running order.

    Raises `PlanError` if two sites share name or content, if there are too many trials, or if
    origins cannot have the requested round trips.
    """
    _check_sites(sites)
    count = plan.blocks * len(sites) * len(plan.networks) * len(plan.stacks)
    if count > TRIALS_MAX:
        raise PlanError([f"the plan has {count} trials, more than {TRIALS_MAX}; split it"])
    return list(_order(plan, sites, _own_rtts(plan, sites)))


def recording_key(variant: str, site: str) -> str:
    """Return the key of a recording among those of a run: its site, or `VARIANT/SITE`."""
    return f"{variant}/{site}" if variant else site


def _own_rtts(plan: Plan, sites: Sequence[Site]) -> OwnRtts:
    """Return the origins' round trips on the recordings that each stack loads."""
    recordings = [each for site in sites for each in (site, *site.variants.values())]
    hosts = {place.host for each in recordings for place in each.places}
    by_cell: dict[tuple[str, str], Own] = {}
    for variant in dict.fromkeys(variant_of(stack.name) for stack in plan.stacks):
        stacks = [stack for stack in plan.stacks if variant_of(stack.name) == variant]
        places = {site.name: site.of(variant).places for site in sites}
        by_cell.update(OwnRtts.of(stacks, places, hosts).by_cell)
    return OwnRtts(by_cell)


def block_name(site: str, network: str, repetition: int) -> str:
    """Return the name of a block: the loads that are compared with each other."""
    return f"{site}/{network}/{repetition}"


def plan_document(plan: Plan, sites: Sequence[Site], trials: Sequence[Trial]) -> JsonObject:
    """Return the content of `plan.json`: settings, ordered trials and hashes."""
    keys = ("hash", "site", "network", "stack", "block", "repetition", "position", "seed")
    return {
        "version": PLAN_DOCUMENT_VERSION,
        "hash": plan_hash(plan, sites),
        **_settings(plan, sites),
        "source": plan.source,
        "trials": [{key: getattr(trial, key) for key in keys} for trial in trials],
    }


def plan_hash(plan: Plan, sites: Sequence[Site]) -> str:
    """Return the hash of the settings and sites, which determine the trials."""
    return content_hash(_settings(plan, sites))


def _settings(plan: Plan, sites: Sequence[Site]) -> JsonObject:
    def named(recordings: Sequence[Site]) -> list[JsonObject]:
        return [{"name": site.name, "digest": site.digest} for site in recordings]

    stated = plan.settings(without=("source", "trace_files", "recording_files"))
    for variant in stated.get("variants", ()):
        has_own = variant["recordings"] or variant["edits"]
        variant["recordings"] = named([site.of(variant["name"]) for site in sites if has_own])
    return {**stated, "sites": named(sites)}


def random_number(seed: int, *names: str | int) -> int:
    """Return 63 random bits for these names under this seed; 63 bits fit a signed column."""
    text = "\x1f".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def _order(plan: Plan, sites: Sequence[Site], own: OwnRtts) -> Iterator[Trial]:
    limits = {
        (site.name, network.name): plan.browser.limit_of(
            max(each.body_bytes for each in (site, *site.variants.values())),
            own.farthest(network, site.name),
        )
        for site in sites
        for network in plan.networks
    }
    shared: dict[tuple[str, str, float, str], JsonObject] = {}
    hashers = {}

    def kind(site: Site, network: Network, stack: Stack) -> tuple[str, str, float, str]:
        """Return the key that determines a trial's settings.

        The key has the site if origins have own round trips.
        """
        limit_s = limits[site.name, network.name]
        return network.name, stack.name, limit_s, site.name if stack.origin_rtt else ""

    for network in plan.networks:
        for stack in plan.stacks:
            for key, site in {kind(site, network, stack): site for site in sites}.items():
                browser = browser_in_force(plan.browser_of(stack.name), stack, network, key[2])
                in_force = stack_in_force(own.stack(stack, site.name), network)
                in_force = with_browser(in_force, browser)
                of_cell = {"network": network.name, "stack": stack.name}
                shared[key] = {
                    **of_cell,
                    "stack_preset": stack.stack_preset,
                    "network_settings": network,
                    "stack_settings": in_force,
                    "browser": browser,
                }
                hashers[key] = _Hasher(of_cell | _trial_settings(network, in_force, browser))
    recordings = [each for site in sites for each in (site, *site.variants.values())]
    digests = {each.digest: canonical_json(each.digest) for each in recordings}
    cells = [(site, network) for site in sites for network in plan.networks]
    for repetition in range(1, plan.blocks + 1):
        for site, network in _shuffle_blocks(plan.seed, repetition, cells):
            names = (site.name, network.name, repetition)
            block = block_name(*names)
            for position, stack in enumerate(_shuffle_stacks(plan, names), start=1):
                key = kind(site, network, stack)
                seed = random_number(plan.seed, "trial", *names, stack_alone(stack.name))
                digest = site.of(variant_of(stack.name)).digest
                yield Trial(
                    hash=hashers[key].trial_hash(repetition, seed, digests[digest]),
                    site=site.name,
                    site_digest=digest,
                    block=block,
                    repetition=repetition,
                    position=position,
                    seed=seed,
                    **shared[key],
                )


class _Hasher:
    """Computes `eyelevel.store.schema.trial_hash` for the trials of one network and stack.

    Canonical JSON sorts its keys, so the parts that all trials share are serialised once, before
    and after the parts that differ.
    """

    def __init__(self, shared: JsonMapping) -> None:
        varying_keys = {"repetition": 0, "seed": 0, "site_digest": ""}
        text = canonical_json({**shared, **varying_keys, "record_version": RECORD_VERSION})
        varying = '"repetition":0,"seed":0,"site_digest":""'
        self._before, varied, self._after = text.partition(varying)
        assert varied, "the keys of a trial are not in the order that this expects"

    def trial_hash(self, repetition: int, seed: int, site_digest: str) -> str:
        """Return a trial's hash; `site_digest` is canonical JSON already."""
        return short_hash(
            f'{self._before}"repetition":{repetition},"seed":{seed},'
            f'"site_digest":{site_digest}{self._after}'
        )


def _shuffle_blocks(
    seed: int, repetition: int, cells: Sequence[tuple[Site, Network]]
) -> list[tuple[Site, Network]]:
    return sorted(
        cells, key=lambda c: random_number(seed, "block", repetition, c[0].name, c[1].name)
    )


def _shuffle_stacks(plan: Plan, names: tuple[str, str, int]) -> list[Stack]:
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
