"""The section on what changed between variants, which comes before the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.analysis.formats import NO_BREAK, format_percent
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.figures.early_hints import EarlyHintsSummary, summarise_early_hints
from eyelevel.report.figures.filmstrips import thumbnail
from eyelevel.report.figures.live_builds import LiveBuildSummary, live_builds
from eyelevel.report.figures.page_changes import PageChange, page_changes

SHOWN_MAX = 2
"""Pages with their pictures; more are in `--json`."""
NAMED_MAX = 3
"""URLs of a kind; more are counted."""


@dataclass(frozen=True)
class ChangedPage:
    """One page and one pair of variants as the template shows it."""

    change: PageChange

    @property
    def caption(self) -> str:
        """Return the heading of the table."""
        return f"What changed in {self.change.site}: medians on {self.change.network}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns after the first."""
        return (*self.change.variants, "change")

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return what is counted, of both and the difference."""
        return [
            (name, _amount(name, old), _amount(name, new), _format_signed(name, new - old))
            for name, old, new in self.change.counts
        ]

    @property
    def sentence(self) -> str:
        """Return the change in a sentence."""
        old, new = self.change.variants
        clauses = [
            f"{_format_signed(name, after - before)}{'' if name == 'bytes' else f' {name}'}"
            for name, before, after in self.change.counts
            if after != before
        ]
        counted = ", ".join(clauses) or "equal counts"
        text = f"{self.change.site}, {new} against {old}: {counted}"
        return f"{text}; {self.pixels}." if self.pixels else f"{text}."

    @property
    def pixels(self) -> str:
        """Return how much of the last pictures differs; empty without pictures."""
        if self.change.difference is None:
            return ""
        share = self.change.difference[1]
        if share == 0:
            return "the last pictures are equal"
        return f"{format_percent(share, signed=False)} of the last pictures differ"

    @property
    def lists(self) -> list[tuple[str, str]]:
        """Return the objects that only one of them has, in words."""
        old, new = self.change.variants
        named = [
            (f"Requested in {new} alone", self.change.added),
            (f"Requested in {old} alone", self.change.removed),
            (f"Blocks rendering in {new} alone", self.change.blocking_added),
            (f"Blocks rendering in {old} alone", self.change.blocking_removed),
        ]
        return [(head, _list(urls)) for head, urls in named if urls]

    @property
    def pictures(self) -> list[tuple[str, str]]:
        """Return the last pictures and their difference as data URLs, each with its caption."""
        if self.change.pictures is None or self.change.difference is None:
            return []
        pictures = (*self.change.pictures, self.change.difference[0])
        captions = (*self.change.variants, f"difference: {self.pixels}")
        return [(name, thumbnail(each)) for name, each in zip(captions, pictures, strict=True)]


@dataclass(frozen=True)
class Changed:
    """The differences of all pairs of variants; empty for a plan without variants."""

    changes: tuple[PageChange, ...]
    live: tuple[LiveBuildSummary, ...] = ()
    """The summaries of live builds."""
    browsers: tuple[str, ...] = ()
    """A sentence for each variant with browser settings of its own."""
    early_hints: tuple[EarlyHintsSummary, ...] = ()
    """The summaries of stacks with Early Hints, which a plan without variants may have, too."""

    @property
    def pages(self) -> tuple[ChangedPage, ...]:
        """Return the pages that are shown."""
        return tuple(map(ChangedPage, self.changes[:SHOWN_MAX]))

    @property
    def left_out(self) -> int:
        """Return how many are not shown."""
        return max(0, len(self.changes) - SHOWN_MAX)

    @property
    def notes(self) -> list[str]:
        """Return the sentences below the tables."""
        live = [each.sentence for each in self.live]
        return [*live, *(each.sentence for each in self.early_hints)]

    @property
    def sentences(self) -> list[str]:
        """Return each change in a sentence, for a terminal."""
        pages = (page.sentence for page in self.pages)
        return [*self.browsers, *pages, *self.notes]

    def as_json(self) -> JsonObject:
        """Return the changes for programs; nothing without variants."""
        own = {"browser_settings": list(self.browsers)} if self.browsers else {}
        live = {"live_builds": [each.as_json() for each in self.live]} if self.live else {}
        changes = {"changed": [each.as_json() for each in self.changes]} if self.changes else {}
        hints = [each.as_json() for each in self.early_hints]
        return {**own, **changes, **live, **({"early_hints": hints} if hints else {})}


def changed(results: StudyResults) -> Changed:
    """Return what the variants of a run differ in."""
    versions = results.environment.get("variant_browsers", {})
    browsers = tuple(
        f"{variant.name} has browser settings of its own: {variant.browser.words()}"
        f"{f' ({versions[variant.name]})' if variant.name in versions else ''}."
        for variant in results.plan.variants
        if variant.browser
    )
    return Changed(
        tuple(page_changes(results)),
        tuple(live_builds(results)),
        browsers,
        tuple(summarise_early_hints(results)),
    )


def _amount(name: str, value: float) -> str:
    if name == "bytes" and abs(value) < 1000:
        return f"{value:.0f}{NO_BREAK}B"
    if name == "bytes":
        return f"{value / 1e3:,.1f}{NO_BREAK}kB".replace(",", NO_BREAK)
    return f"{value:g}"


def _format_signed(name: str, value: float) -> str:
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return f"{sign}{_amount(name, abs(value))}"


def _list(urls: Sequence[str]) -> str:
    more = f", and {len(urls) - NAMED_MAX} more" if len(urls) > NAMED_MAX else ""
    return f"{', '.join(urls[:NAMED_MAX])}{more}"
