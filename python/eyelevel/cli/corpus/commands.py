"""The group of commands `eyelevel corpus`.

Select sites from a corpus by strata of their attributes (`eyelevel corpus select`).
"""

import shutil
from os.path import relpath
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import CorpusError
from eyelevel.cli.corpus.importing import import_corpus
from eyelevel.cli.corpus.info import CorpusArgument, info, read_corpus
from eyelevel.cli.corpus.record import check_corpus, record_corpus
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import print_json, results, say, table
from eyelevel.plan.plan import is_archive_path
from eyelevel.sites.corpora.attributes import SiteAttributes
from eyelevel.sites.corpora.checks import fit_alone
from eyelevel.sites.corpora.selection import Allocation, By, parse_by, select, strata, where
from eyelevel.store.disk import folder_beside, make_folder, write_result, writing


def _select_sites(
    corpus: CorpusArgument,
    out_: Annotated[
        str,
        typer.Option(
            "--out", help="The list to write or, with a `/` at the end, a new folder of copies."
        ),
    ],
    count: Annotated[int, typer.Option(min=1, help="How many sites.")],
    by: Annotated[
        str,
        typer.Option(
            help="The strata: attributes separated by commas, each with its classes after `:`."
        ),
    ] = "body_bytes,server_addresses",
    conditions: Annotated[
        list[str] | None,
        typer.Option(
            "--where", help="Only sites that meet this, such as `server_addresses=1`. Repeatable."
        ),
    ] = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Only sites that `corpus check` found fit.")
    ] = False,
    allocation: Annotated[
        Allocation,
        typer.Option(
            help="Draw in proportion to each stratum's share of the corpus, or equally from each."
        ),
    ] = "proportional",
    seed: Annotated[
        int, typer.Option(min=0, help="The seed: the same seed draws the same sites.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Select sites from a corpus by strata, at random with a seed.

    Plans and `--corpus` take the list or folder that it writes. The attributes are
    server_addresses, origins, objects, object_bytes_mean, body_bytes, secure_share (of the
    objects), secure_bytes_share, secure_page (1: the page came over https) and
    dependency_depth.
    """
    cut = parse_by(by)
    out = Path(out_)
    if out.exists():
        raise CorpusError(f"--out {out} already exists; choose another")
    sites, _ = read_corpus(corpus)
    left = where(sites, conditions or ())
    if fit:
        left = fit_alone(corpus, left)
    drawn = select(left, cut, count, seed, allocation)
    about = [
        f"# {len(drawn)} of {len(left)} sites of {corpus}, seed {seed}, {allocation} by {by}",
        *(f"# where {condition}" for condition in conditions or ()),
    ]
    if out_.endswith("/"):
        _copy(drawn, out)
    else:
        lines = [*about, *(_line(site, out.parent) for site in drawn)]
        write_result(out, "".join(f"{line}\n" for line in lines))
    if as_json:
        print_json({"out": str(out), "sites": [site.name for site in drawn]})
    else:
        _print_strata(left, drawn, cut)
        say(results, f"{len(drawn)} of {len(left)} sites")
    end_at("sites", out, as_json=as_json)


def _line(site: SiteAttributes, folder: Path) -> str:
    if not is_archive_path(site.site):
        return site.site
    path = relpath(site.site, folder)
    return path if "/" in path else f"./{path}"


def _copy(drawn: list[SiteAttributes], out: Path) -> None:
    if unlike := [site.site for site in drawn if not is_archive_path(site.site)]:
        raise CorpusError(
            f"{unlike[0]} has no file of its own; write a list instead: --out LIST.txt"
        )
    make_folder(out.parent)
    with writing(out), folder_beside(out) as draft:
        made = draft / "sites"
        made.mkdir()
        for site in drawn:
            shutil.copy2(site.site, made)
        made.rename(out)


def _print_strata(sites: list[SiteAttributes], drawn: list[SiteAttributes], by: list[By]) -> None:
    names = {site.name for site in drawn}
    columns = [each.attribute for each in by]
    listing = table(*columns, "sites", "drawn", right=(*columns, "sites", "drawn"))
    for cell in strata(sites, by):
        ranges = [f"{_number(low)} to {_number(high)}" for _, low, high in cell.ranges]
        count = sum(site.name in names for site in cell.sites)
        listing.add_row(*ranges, str(len(cell.sites)), str(count))
    results.print(listing)


def _number(value: float) -> str:
    """Format counts and bytes as integers, shares with four digits."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


app = typer.Typer(
    help="Build, check and describe corpora of many recordings, and select sites from them.",
    no_args_is_help=True,
)
app.command("record")(record_corpus)
app.command("import")(import_corpus)
app.command("check")(check_corpus)
app.command("info")(info)
app.command("select")(_select_sites)
