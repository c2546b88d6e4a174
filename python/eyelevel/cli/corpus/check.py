"""Check every recording of a corpus (`eyelevel corpus check`), and store the results."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import BrowserError, BrowserStartError, ExpectedError
from eyelevel.cli.corpus.info import CorpusArgument
from eyelevel.cli.corpus.steps import Steps
from eyelevel.cli.finish import end_at
from eyelevel.cli.options import UnsafeBrowserOption
from eyelevel.cli.output import print_json, results, say
from eyelevel.cli.site.check import TOOL_FOUND_DIFFERENCES, page_as_json, write_pictures
from eyelevel.lab.binary import run_tool
from eyelevel.sites.check import RULES, check_page
from eyelevel.sites.corpora.checks import LOADS_MIN, Check, folder_of, keep_check, read_check
from eyelevel.sites.corpora.members import Member, members
from eyelevel.sites.recorded import open_site
from eyelevel.store.claim import claim

LOADS_MAX = 10
EXIT_NOT_FIT = 1


def check_corpus(
    corpus: CorpusArgument,
    loads: Annotated[
        int,
        typer.Option(
            min=0,
            max=LOADS_MAX,
            help=(
                "Loads of each page, over h1, h2 and h3 in turn; with fewer than 3 no page "
                "counts as fit."
            ),
        ),
    ] = LOADS_MAX,
    again: Annotated[
        bool, typer.Option("--again", help="Also check recordings whose earlier check is kept.")
    ] = False,
    _unsafe_browser: UnsafeBrowserOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check each recording of a corpus as `site check` does, and keep the results.

    Recordings are checked one after another. Each result, with a picture, is kept in the
    corpus's folder `checks` as soon as it is known, so the same command continues after an
    interruption. Exits 1 if a recording is not fit to be measured.
    """
    found = members(corpus)
    folder = folder_of(corpus)
    claim(folder)
    checks = []
    with Steps("checking", len(found)) as steps:
        for member in found:
            steps.begin(member.name)
            check, is_kept = check_member(member, folder, loads, again=again)
            steps.end(member.name, passed_over=is_kept)
            checks.append(check)
            if check.reason:
                say(steps.screen, f"{check.name}: not fit to be measured: {check.reason}")
    fit = [check.name for check in checks if check.is_fit]
    undecided = [check.name for check in checks if check.is_open]
    reasons = {check.name: check.reason for check in checks if check.reason}
    if as_json:
        print_json(
            {"checks": str(folder), "fit": fit, "not_fit": reasons, "too_few_loads": undecided}
        )
    else:
        few = f"{len(undecided)} came back as recorded, but were loaded less than {LOADS_MIN} times"
        say(
            results,
            f"{len(fit)} of {len(checks)} recordings are fit to be measured"
            f"{f'; {few}' if undecided else ''}",
        )
    end_at("checks", folder, as_json=as_json)
    if reasons:
        raise typer.Exit(EXIT_NOT_FIT)


def check_member(
    member: Member, folder: Path, loads: int, *, again: bool = False
) -> tuple[Check, bool]:
    """Return one recording's check, and whether it is a stored one.

    A stored check is used if it is of the same file, by the same rules, with at least as many
    loads. A recording that cannot be opened, or makes the browser fail, is not fit; the latter is
    stored with 0 loads, so that the next check tries again. Raises `BrowserStartError`, which is
    not about the recording, and `OSError`.
    """
    kept = None if again else read_check(folder, member.name)
    digest = ""
    try:
        site = open_site(member.site)
        digest = site.digest
        if kept and (kept.digest, kept.rules) == (site.digest, RULES) and kept.loads >= loads:
            return kept, True
        archive = site.path.resolve()
        report = run_tool(["archive", "check", str(archive)], accept=(0, TOOL_FOUND_DIFFERENCES))
        differences = sum(len(protocol["differences"]) for protocol in report["protocols"])
        failure = ""
        if loads:
            page = check_page(archive, loads)
            failure = page.failure()
            folder.mkdir(parents=True, exist_ok=True)
            picture = write_pictures(page, archive, folder / f"{member.name}.png")
            report["page"] = page_as_json(page, failure) | picture
    except BrowserStartError:
        raise
    except (ExpectedError, BrowserError) as error:
        reason = " ".join(str(error).split())
        check = Check(member.name, digest, 0, 0, reason or type(error).__name__)
        if digest:
            keep_check(folder, check, {})
        return check, False
    check = Check(member.name, site.digest, loads, differences, failure)
    keep_check(folder, check, report)
    return check, False
