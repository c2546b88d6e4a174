"""Describe a corpus site by site and in total (`eyelevel corpus info`)."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import CorpusError, unknown
from eyelevel.cli.corpus.importing import Steps
from eyelevel.cli.finish import OpenOption, check_opens, end_at
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.report.charts.chart import FORMATS
from eyelevel.report.charts.corpus import corpus_points
from eyelevel.sites.corpora.attributes import SiteAttributes, Unit, Unreadable, read_attributes
from eyelevel.sites.corpora.members import find_other_recordings, members
from eyelevel.sites.corpora.table import (
    DAS_2014,
    DAS_2014_SECURE_PAGES,
    copies,
    rows_of,
    spreads,
    spreads_as_json,
)
from eyelevel.store.cells import to_csv
from eyelevel.store.disk import write_result

CorpusArgument = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER|LIST|NAME",
        help="A folder of recordings, a list of them, or a generated corpus.",
    ),
]
SITES_SHOWN_MAX = 50
"""Maximum number of rows in the printed table; `--json` and `--csv` have all."""
OTHERS_SHOWN_MAX = 3


def info(
    corpus: CorpusArgument,
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw each site's bytes, objects and addresses to this svg or pdf."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one row per site to this file.")] = None,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what a corpus consists of: each site, and Das's table 4.1 with range and median.

    Recordings that cannot be read are listed with the reason, and other tools' recordings are
    listed as skipped; all others are described. Exits 1 if none can be described.
    """
    if figure and figure.suffix[1:] not in FORMATS:
        raise CorpusError(f"--figure {figure}: {unknown('format', figure.suffix[1:], FORMATS)}")
    check_opens(open_, figure, "figure", "--figure FILE.svg")
    sites, refused = read_corpus(corpus)
    for each in refused:
        say(hints, f"{each.name}: not read: {each.reason}")
    others = find_other_recordings(corpus)
    if others:
        more = len(others) - OTHERS_SHOWN_MAX
        named = ", ".join(others[:OTHERS_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
        say(
            hints,
            f"skipped because other tools recorded them: {named}; import them first: eyelevel "
            f"corpus import {corpus} --out FOLDER",
        )
    if not sites:
        raise typer.Exit(1)
    if csv:
        write_result(csv, to_csv(rows_of(sites)))
    if figure:
        write_result(figure, FORMATS[figure.suffix[1:]](corpus_points(rows_of(sites))))
    alike = copies(sites)
    if as_json:
        print_json(
            {
                "sites": rows_of(sites).to_dicts(),
                "table": spreads_as_json(sites),
                "secure_pages": sum(site.secure_page == 1 for site in sites),
                "copies": alike,
                "passed_over": others,
                "unreadable": {each.name: each.reason for each in refused},
            }
        )
    else:
        _print(sites, alike)
    if csv:
        end_at("rows", csv, as_json=as_json)
    if figure:
        end_at("figure", figure, opens=open_, as_json=as_json)


def _print(sites: list[SiteAttributes], alike: list[tuple[str, ...]]) -> None:
    print_sites(sites)
    _print_table(sites)
    secure, of_das = sum(site.secure_page for site in sites), DAS_2014_SECURE_PAGES
    counted = f"{secure:.0f} of {len(sites)}, Das 2014 {of_das[0]} of {of_das[1]}"
    say(results, f"pages whose own address is https: {counted}")
    _print_differences(sites)
    for names in alike:
        say(results, f"the same page with the same objects: {', '.join(names)}")


def read_corpus(corpus: str) -> tuple[list[SiteAttributes], list[Unreadable]]:
    """Read a corpus with a progress bar; returns readable and unreadable recordings.

    Raises `CorpusError`.
    """
    found = members(corpus)
    sites: list[SiteAttributes] = []
    refused: list[Unreadable] = []
    with Steps("reading", len(found)) as steps:
        for each in read_attributes(found):
            if isinstance(each, Unreadable):
                refused.append(each)
            else:
                sites.append(each)
            steps.end(each.name)
    return sites, refused


def print_sites(sites: list[SiteAttributes]) -> None:
    """Print one row per site, in the columns of Das's table 5.1."""
    numbers = ("addresses", "objects", "mean object", "total size", "secure", "depth")
    listing = table("site", *numbers, right=numbers, whole=("site",))
    for site in sites[:SITES_SHOWN_MAX]:
        listing.add_row(
            site.name,
            "-" if site.server_addresses is None else str(site.server_addresses),
            str(site.objects),
            _format_value(site.object_bytes_mean, "bytes"),
            _format_value(site.body_bytes, "bytes"),
            f"{site.secure_share:.0%}",
            str(site.dependency_depth),
        )
    results.print(listing)
    if len(sites) > SITES_SHOWN_MAX:
        say(results, f"and {len(sites) - SITES_SHOWN_MAX} more; --csv FILE has all")


def _print_table(sites: list[SiteAttributes]) -> None:
    numbers = ("least", "median", "largest", "Das 2014")
    listing = table(f"{len(sites)} sites", *numbers, right=numbers)
    for name, spread in spreads(sites).items():
        if name == "secure_page":  # a count is clearer for a yes or no
            continue
        values = [
            _format_value(v, spread.unit) for v in (spread.least, spread.median, spread.largest)
        ]
        listing.add_row(spread.title, *values, _das(name))
    results.print()
    results.print(listing)


def _print_differences(sites: list[SiteAttributes]) -> None:
    without = sum(site.server_addresses is None for site in sites)
    if without:
        say(results, f"{without} of {len(sites)} sites have no recorded server addresses")
    if altered := sum(site.is_altered for site in sites):
        say(
            results,
            f"{altered} of {len(sites)} sites were altered after recording, so their sizes may "
            "differ from what was sent; `eyelevel site info` says how",
        )


def _das(name: str) -> str:
    """Return range and median in Das's table 4.1 as text."""
    if name not in DAS_2014:
        return ""
    das = DAS_2014[name]
    least, middle, largest = (
        _format_value(v, das.unit) for v in (das.least, das.median, das.largest)
    )
    return f"{least} to {largest}, median {middle}"


def _format_value(value: float, unit: Unit) -> str:
    if unit == "share":
        return f"{value:.0%}"
    if unit != "bytes":
        return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
    for name, scale in (("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value:.0f} B"
