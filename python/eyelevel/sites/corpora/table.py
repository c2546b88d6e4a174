"""Summarise a corpus as in Das's table 4.1, next to his own values."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

import polars as pl

from eyelevel.base.json_types import JsonObject
from eyelevel.sites.corpora.attributes import ATTRIBUTES, ATTRIBUTES_BY_NAME, SiteAttributes, Unit


@dataclass(frozen=True)
class Spread:
    """Minimum, median and maximum, over sites or over all their objects."""

    title: str
    least: float
    median: float
    largest: float
    unit: Unit = ""


DAS_2014: dict[str, Spread] = {
    "server_addresses": Spread("server addresses", 1, 22, 66),
    "objects": Spread("objects", 2, 100, 680),
    "object_bytes": Spread("object size", 53, 3.0e3, 43e6, "bytes"),
    "body_bytes": Spread("total size", 15e3, 1.2e6, 51e6, "bytes"),
}
"""Values of Das 2014, table 4.1, over his 500 pages."""
DAS_2014_SECURE_PAGES = (43, 500)
"""Number of pages with an https URL, and of all pages (section 5.4)."""


def spreads(sites: Sequence[SiteAttributes]) -> dict[str, Spread]:
    """Return range and median of each attribute over the sites that have it.

    There must be at least one site.

    Attributes that no site has are left out; `object_bytes` is over all objects of all sites. Das's
    rows come first, in his order.
    """
    found = {}
    for each in ATTRIBUTES:
        values = [value for site in sites if (value := each.of(site)) is not None]
        if values:
            found[each.name] = _spread(each.title, values, each.unit)
    sizes = [size for site in sites for size in site.object_bytes]
    found["object_bytes"] = _spread("object size", sizes, "bytes")
    return {name: found[name] for name in [*DAS_2014, *found] if name in found}


def _spread(title: str, values: Sequence[float], unit: Unit) -> Spread:
    return Spread(title, min(values), float(median(values)), max(values), unit)


def spreads_as_json(sites: Sequence[SiteAttributes]) -> JsonObject:
    """Return `least`, `median` and `largest` by attribute, with Das's values if he has them.

    An attribute that no site has is null.
    """
    found = {
        name: {"least": spread.least, "median": spread.median, "largest": spread.largest}
        | ({"das_2014": asdict(DAS_2014[name])} if name in DAS_2014 else {})
        for name, spread in spreads(sites).items()
    }
    return dict.fromkeys(ATTRIBUTES_BY_NAME) | found


def rows_of(sites: Sequence[SiteAttributes]) -> pl.DataFrame:
    """Return one row per site: `site`, `page`, one column for each of `ATTRIBUTES`, and `altered`.

    An attribute that a site lacks is null; `altered` is whether sizes may not be as sent.
    """
    rows = pl.DataFrame(
        {"site": [site.name for site in sites], "page": [site.page for site in sites]}
        | {name: [each.of(site) for site in sites] for name, each in ATTRIBUTES_BY_NAME.items()}
        | {"altered": [site.is_altered for site in sites]}
    )
    return rows.with_columns(pl.col(pl.Null).cast(pl.Int64))  # for a column without values


def copies(sites: Sequence[SiteAttributes]) -> list[tuple[str, ...]]:
    """Return groups of names of recordings of the same page with the same objects.

    A corpus would count such a page several times.
    """
    alike: dict[object, list[str]] = defaultdict(list)
    for site in sites:
        alike[site.page, site.object_bytes].append(site.name)
    return [tuple(names) for names in alike.values() if len(names) > 1]
