"""`eyelevel site edit`: a recording with declared changes."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import ExpectedError, unknown
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.json_types import JsonMapping
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.cli.site.check import size
from eyelevel.plan.edits import EDITS, Edit, parse_change, parse_edit
from eyelevel.sites.edits import write_edited
from eyelevel.sites.recorded import open_site


def edit_site(
    file: Annotated[
        str, typer.Argument(help="A recorded site: a file, or the name of a shipped one.")
    ],
    out: Annotated[Path, typer.Option(help="The WACZ to write.")],
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EDIT",
            help="An edit, such as `preload:/hero.jpg`, `block:third-parties` or `encode:br:11`; "
            "may be given several times.",
        ),
    ] = None,
    edits: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="A file with `[[edits]]`, applied first."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a site with declared changes, and how often each matched.

    Everything else stays byte by byte; an edit that matches nothing is an error.
    """
    wanted = [*(_of_file(edits) if edits else []), *map(_of_option, change or [])]
    if not wanted:
        raise typer.BadParameter("give at least one", param_hint="--change or --edits")
    site = open_site(file)
    with hints.waiting(f"editing {site.name}"):
        report = write_edited(site.path, wanted, out)
    if as_json:
        print_json(report)
    else:
        _print_report(report)
    end_at("site", out, as_json=as_json)


def _of_option(text: str) -> Edit:
    try:
        edit = parse_change(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--change") from error
    if edit is None:
        known = [kind.name for kind in EDITS]
        reason = unknown("edit", text.partition(":")[0], known)
        raise typer.BadParameter(reason, param_hint=f"--change {text}")
    return edit


def _of_file(file: Path) -> list[Edit]:
    source = Source(str(file), PLAN, plan_error)
    tables = parse_toml(read_text(file, source), source).get("edits")
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise source.refusal("no `[[edits]]` in it", remedy='write one: `preload = "/hero.jpg"`')
    edits = []
    for number, each in enumerate(tables, start=1):
        try:
            edits.append(parse_edit(each))
        except ValueError as error:
            raise ExpectedError(f"{file}: edit {number}: {error}") from error
    return edits


def _print_report(report: JsonMapping) -> None:
    listing = table("edit", "matches", "in", right=("matches",))
    for each in report["edits"]:
        first, *others = each["objects"]
        where = f"{first} and {len(others)} more" if others else first
        listing.add_row(each["edit"], str(each["matches"]), where)
    results.print(listing)
    changed, removed = report["changed"], report["removed"]
    before = sum(each["body_bytes_before"] for each in changed)
    after = sum(each["body_bytes_after"] for each in changed)
    say(results, f"{_objects(len(changed))} changed: {size(before)} before, {size(after)} now")
    if removed:
        say(results, f"{_objects(len(removed))} taken out")
    for key, what in (("integrity_hashes", "integrity"), ("policy_hashes", "policy")):
        if report[key]:
            say(results, f"{report[key]} {what} hashes written anew")


def _objects(count: int) -> str:
    return "1 object" if count == 1 else f"{count} objects"
