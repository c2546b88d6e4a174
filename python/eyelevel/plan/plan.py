"""A plan: what is loaded, over which networks and stacks, and what is compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, MinLen

from eyelevel.base.json_types import JsonObject
from eyelevel.base.settings import LISTED, DurationMs, Settings, Share
from eyelevel.plan.browser import Browser
from eyelevel.plan.causes import Causes
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import Variant, variant_of

BLOCKS_MAX = 10_000  # far beyond any study, so that a typo does not start a run of years
SMALLEST_EFFECT = 0.05
"""Default of the smallest effect of interest."""
SMALLEST_EFFECT_OF_VARIANTS = (0.02, 10.0)
"""The default of a plan with variants, as a share and in ms: pages change by small steps that add
up, but 10 ms are less than one frame of a 60 Hz screen, which no user sees."""
Blocks = Annotated[int, Ge(1), Le(BLOCKS_MAX)]
Seed = Annotated[int, Ge(0), Lt(2**63)]
SmallestEffect = Annotated[Share, Gt(0)]
SmallestEffectMs = Annotated[DurationMs, Gt(0)]
Weight = Annotated[float, Gt(0)]
ARCHIVE_SUFFIXES = (".wacz", ".warc", ".warc.gz")


@dataclass(frozen=True)
class StopRule(Settings):
    """The rule that ends a network's loads once each of its primary comparisons is decided.

    Interim analyses happen after repetitions from `blocks_min` on
    (`eyelevel.analysis.stats.stopping_rule`). `futility`: also stop once no verdict can be expected
    by the last block.
    """

    blocks_min: Annotated[int, Ge(2), Le(BLOCKS_MAX)] = 5
    futility: bool = True


@dataclass(frozen=True)
class Plan(Settings):
    """A validated plan with its presets resolved; `source` is its text, kept for the record."""

    title: str
    sites: Annotated[tuple[str, ...], MinLen(1), LISTED]
    networks: Annotated[tuple[Network, ...], MinLen(1), LISTED]
    stacks: Annotated[tuple[Stack, ...], MinLen(1), LISTED]
    comparisons: Annotated[tuple[Comparison, ...], LISTED]
    """Comparisons; the first is the headline's. With the networks they form the family."""
    blocks: Blocks
    seed: Seed
    primary_metric: str
    smallest_effect_of_interest: SmallestEffect
    browser: Browser
    source: str
    stop: StopRule | None = None
    weights: Mapping[str, Weight] = field(default_factory=dict)
    """Shares of use by network name; empty for equal weights."""
    causes: Causes | None = None
    """Counterfactual twins of stacks and networks."""
    smallest_effect_of_interest_ms: SmallestEffectMs | None = None
    """The smallest effect of interest in ms; the larger of both counts. None: the share alone."""
    smallest_effect_reason: str = ""
    """Why a smaller effect does not matter; "" if the plan gives no reason."""
    trace_files: Mapping[str, str] = field(default_factory=dict)
    """Path of each recorded trace by digest; the path is no part of a trial's identity."""
    variants: Annotated[tuple[Variant, ...], LISTED] = ()
    """The variants of the pages; with them `stacks` has each stack once for every variant."""
    recording_files: Mapping[str, str] = field(default_factory=dict)
    """Path of each variant's recording, edited already, by variant and site
    (`eyelevel.plan.trials.recording_key`); empty to open and edit those that variants name."""

    def settings(self, *, without: tuple[str, ...] = ()) -> JsonObject:
        """Return the plan as JSON; what only plans with variants have is absent without a
        value."""
        absent = [key for key in _ABSENT if not getattr(self, key)]
        stated = self.stated(without=(*without, *absent))
        for variant in stated.get("variants", ()):
            if variant["live"] is None:
                del variant["live"]
            changed = variant.pop("browser")
            if changed is not None:
                given = {key: value for key, value in changed.items() if value is not None}
                variant["browser"] = given
        return stated

    def browser_of(self, stack: str) -> Browser:
        """Return the browser settings of loads with the stack of this name, whose variant may have
        some of its own."""
        name = variant_of(stack)
        change = next((each.browser for each in self.variants if each.name == name), None)
        return change.apply_to(self.browser) if change else self.browser


_ABSENT = ("variants", "smallest_effect_of_interest_ms")


def is_archive_path(site: str) -> bool:
    """Return whether a plan's site is a path to a recording rather than a shipped site's name."""
    return "/" in site or site.endswith(ARCHIVE_SUFFIXES)
