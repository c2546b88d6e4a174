"""The differences between variants of a page, as loads show them: requests, bytes, render-blocking
objects, and the last frames of a typical block."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from eyelevel.analysis.answers import headline_network
from eyelevel.analysis.metrics.network import find_fetched_objects
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.variants import variant_of
from eyelevel.report.figures.filmstrips import typical_loads
from eyelevel.store.directory import read_trial_frames
from eyelevel.store.pictures import Picture

COUNTED = {"requests": "objects", "bytes": "encoded_bytes", "origins": "origins"}
"""The counts of each load, by column of the table of facts."""

BLOCKING = ("Blocking", "InBodyParserBlocking")
"""Chromium's values for style sheets and scripts without which nothing, or nothing below them, is
painted."""

LOADED = ("ok", "starved")
"""The outcomes of loads of which everything came: a busy machine changes when, and not what."""

PIXEL_DIFFERENCE_MIN = 16
"""The least difference of a channel, of 255, by which a pixel counts as changed: text drawn anew
differs by less along its edges."""


@dataclass(frozen=True)
class PageChange:
    """The differences between two variants of a site.

    The counts are medians over the loads on the network of the headline; the objects and the last
    pictures are those of its typical block, or of the first one if none counts.
    """

    site: str
    network: str
    comparison: Comparison
    counts: tuple[tuple[str, float, float], ...]
    """Name and medians of each count: the reference's, then the variant's."""
    added: tuple[str, ...]
    """URLs without their queries that the variant alone requested."""
    removed: tuple[str, ...]
    blocking_added: tuple[str, ...]
    """URLs that block rendering in the variant alone."""
    blocking_removed: tuple[str, ...]
    pictures: tuple[Picture, Picture] | None
    """The last pictures of the reference and the variant; None if one has none."""

    @property
    def variants(self) -> tuple[str, str]:
        """Return the names of the reference's and the variant's."""
        return variant_of(self.comparison.reference), variant_of(self.comparison.stack)

    @cached_property
    def difference(self) -> tuple[Picture, float] | None:
        """Return a picture of what changed at the end, and the share of the pixels that did."""
        return compare_pictures(*self.pictures) if self.pictures else None

    def as_json(self) -> JsonObject:
        """Return the change for programs."""
        reference, variant = self.variants
        return {
            "site": self.site,
            "network": self.network,
            "variant": variant,
            "reference": reference,
            "counts": {name: {reference: old, variant: new} for name, old, new in self.counts},
            "added": list(self.added),
            "removed": list(self.removed),
            "render_blocking_added": list(self.blocking_added),
            "render_blocking_removed": list(self.blocking_removed),
            "pixels_changed": self.difference[1] if self.difference else None,
        }


def page_changes(results: StudyResults) -> list[PageChange]:
    """Return what each pair of variants differs in on each site; empty without variants."""
    pairs: dict[tuple[str, str], Comparison] = {}
    for comparison in results.comparisons:
        names = variant_of(comparison.reference), variant_of(comparison.stack)
        if names[0] != names[1]:
            pairs.setdefault(names, comparison)
    if not pairs:
        return []
    named = headline_network(results)
    networks = sorted(results.networks, key=lambda network: network != named)
    typical = typical_loads(results)
    found = []
    for site in results.sites:
        for comparison in pairs.values():
            for network in networks:
                hashes = {
                    stack: str(row["hash"])
                    for stack, row in typical.get((site, network), {}).items()
                }
                if not {comparison.stack, comparison.reference} <= hashes.keys():
                    hashes = _first_block(results, site, network, comparison)
                if hashes:
                    found.append(_change(results, site, network, comparison, hashes))
                    break
    return found


def _first_block(
    results: StudyResults, site: str, network: str, comparison: Comparison
) -> dict[str, str]:
    """Return the loads of the first block in which both came, by stack; empty without one."""
    stacks = [comparison.reference, comparison.stack]
    loads = results.table.filter(
        pl.col("site") == site,
        pl.col("network") == network,
        pl.col("stack").is_in(stacks),
        pl.col("outcome").is_in(LOADED),
    ).sort("repetition")
    both = loads.filter(pl.len().over("repetition") == len(stacks)).head(len(stacks))
    return dict(both.select("stack", "hash").iter_rows())


def compare_pictures(old: Picture, new: Picture) -> tuple[Picture, float]:
    """Return the new picture paled, with what differs from the old one in red, and the share of
    its pixels that do.

    Where one is larger than the other, what is beyond the other differs.
    """
    height, width = (max(old.shape[axis], new.shape[axis]) for axis in (0, 1))
    same = np.zeros((height, width), dtype=bool)
    rows, columns = (min(old.shape[axis], new.shape[axis]) for axis in (0, 1))
    apart = np.abs(old[:rows, :columns].astype(np.int16) - new[:rows, :columns])
    same[:rows, :columns] = apart.max(axis=2) < PIXEL_DIFFERENCE_MIN
    overlay = np.full((height, width, 3), 255, dtype=np.uint8)
    overlay[: new.shape[0], : new.shape[1]] = 255 - (255 - new) // 4
    overlay[~same] = (200, 0, 0)
    return overlay, float(1 - same.mean())


def _change(
    results: StudyResults,
    site: str,
    network: str,
    comparison: Comparison,
    hashes: Mapping[str, str],
) -> PageChange:
    there = results.table.filter(pl.col("outcome").is_in(LOADED), site=site, network=network)
    medians = {
        stack: there.filter(stack=stack).select(pl.col(list(COUNTED.values())).median()).row(0)
        for stack in (comparison.reference, comparison.stack)
    }
    counts = [
        (name, float(old), float(new))
        for name, old, new in zip(
            COUNTED, medians[comparison.reference], medians[comparison.stack], strict=True
        )
        if old is not None and new is not None
    ]
    old, new = (
        results.trial(hashes[stack]).record for stack in (comparison.reference, comparison.stack)
    )
    blocking_old, blocking_new = _list_blocking(old), _list_blocking(new)
    counts.append(("render-blocking", float(len(blocking_old)), float(len(blocking_new))))
    frames = [
        read_trial_frames(results.directory, hashes[stack])
        for stack in (comparison.reference, comparison.stack)
    ]
    return PageChange(
        site,
        network,
        comparison,
        tuple(counts),
        added=_list_added(_list_fetched(new), _list_fetched(old)),
        removed=_list_added(_list_fetched(old), _list_fetched(new)),
        blocking_added=_list_added(blocking_new, blocking_old),
        blocking_removed=_list_added(blocking_old, blocking_new),
        pictures=(frames[0].last(), frames[1].last()) if all(frames) else None,
    )


class _Place(NamedTuple):
    """A URL without its query, and the same without the page's own origin: two builds are often
    recorded under different hosts."""

    url: str
    alike: str


def _list_fetched(record: JsonMapping) -> list[_Place]:
    return [_place(item, record) for item in find_fetched_objects(record)]


def _list_blocking(record: JsonMapping) -> list[_Place]:
    return [
        _place(item, record)
        for item in record["objects"]
        if item["render_blocking"] in BLOCKING and item["in_main_frame"] is not False
    ]


def _place(item: JsonMapping, record: JsonMapping) -> _Place:
    url = str(item["url"]).split("?", 1)[0]
    own, parts = urlsplit(str(record["objects"][0]["url"])), urlsplit(url)
    return _Place(url, parts.path if (own.scheme, own.netloc) == parts[:2] else url)


def _list_added(these: Sequence[_Place], those: Sequence[_Place]) -> tuple[str, ...]:
    """Return the URLs of what is among `these` more often than among `those`, each once."""
    counts = Counter(place.alike for place in these)
    counts.subtract(place.alike for place in those)
    return tuple(dict.fromkeys(place.url for place in these if counts[place.alike] > 0))
