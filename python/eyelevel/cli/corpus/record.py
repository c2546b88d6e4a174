"""Record and check the pages of a list, one at a time (`eyelevel corpus record`).

Check every recording of a corpus (`eyelevel corpus check`), and store the results.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import BrowserError, BrowserStartError, CorpusError, ExpectedError
from eyelevel.cli.corpus.importing import Steps
from eyelevel.cli.corpus.info import CorpusArgument
from eyelevel.cli.finish import end_at
from eyelevel.cli.options import AllowOption, UnsafeBrowserOption
from eyelevel.cli.output import Screen, hints, print_json, results, say
from eyelevel.cli.site.check import TOOL_FOUND_DIFFERENCES, page_as_json, write_pictures
from eyelevel.cli.site.record import record_page
from eyelevel.lab.binary import run_tool
from eyelevel.sites.check import RULES, check_page
from eyelevel.sites.corpora.checks import LOADS_MIN, Check, folder_of, keep_check, read_check
from eyelevel.sites.corpora.importing import recording_in
from eyelevel.sites.corpora.ledger import FILE, Entry, Ledger, own_ledger
from eyelevel.sites.corpora.members import Member, members
from eyelevel.sites.corpora.pages import PUBLISHED_LISTS, name_of_page, read_pages
from eyelevel.sites.corpora.recorded_page import find_error_answer
from eyelevel.sites.recorded import open_site
from eyelevel.store.claim import claim
from eyelevel.store.disk import folder_beside

PAUSE_S = 5.0
LOADS = 3
"""Number of loads of a check, one over each HTTP version; `corpus check` makes more."""
FAILED_IN_A_ROW_MAX = 10
"""Number of successive failures that indicates a problem of the network or machine, not of
pages.
"""


def record_corpus(
    pages: Annotated[
        str,
        typer.Argument(
            metavar="LIST",
            help="A file with one URL or host per line, or the name of a published list.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the corpus; created if missing.")],
    pause_s: Annotated[
        float, typer.Option("--pause", min=0, max=3600, help="Seconds between two pages.")
    ] = PAUSE_S,
    first: Annotated[
        int | None, typer.Option(min=1, help="Only this many pages from the top of the list.")
    ] = None,
    loads: Annotated[
        int,
        typer.Option(min=0, max=10, help="Loads of each recording to check it; 0 means no check."),
    ] = LOADS,
    again: Annotated[bool, typer.Option("--again", help="Try again what failed before.")] = False,
    upstream_ca: Annotated[
        Path | None, typer.Option(help="Certificates (PEM) to trust besides the platform's.")
    ] = None,
    allow: AllowOption = None,
    _unsafe_browser: UnsafeBrowserOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Record the pages of a list, one at a time with a pause, and check each recording.

    Pages that are recorded and checked already are skipped, so the same command continues after
    an interruption. A page that fails or answers with an error is not kept; the reason is
    printed and stands in the table. Stops after ten failures in a row. Exits 1 if nothing of
    the list is recorded.
    """
    urls = read_pages(pages)[:first]
    if pages in PUBLISHED_LISTS and not Path(pages).is_file():
        _tell_unknown(pages)
    ledger = own_ledger(out)
    session = _Session(out, ledger, loads, upstream_ca, allow or ())
    seen: list[Entry] = []
    in_a_row = 0
    visited = False
    with Steps("recording", len(urls)) as steps:
        for url in urls:
            before = ledger.entries.get(url)
            if before and not _is_wanted(before, out, again):
                # An earlier call may have ended during its check, or was run without checks.
                steps.begin(before.name)
                is_kept = session.check(before, steps.screen)
                steps.end(before.name, passed_over=is_kept)
                seen.append(before)
                continue
            if visited:
                time.sleep(pause_s)
            visited = True
            steps.begin(url)
            entry = session.record(url, before)
            seen.append(entry)
            steps.end(entry.name)
            if entry.reason:
                say(steps.screen, f"{url}: {entry.outcome}: {entry.reason}")
            session.check(entry, steps.screen)
            in_a_row = 0 if entry.is_there else in_a_row + 1
            if in_a_row == FAILED_IN_A_ROW_MAX:
                raise CorpusError(
                    f"{in_a_row} pages in a row failed, the last because: {entry.reason}; fix "
                    "that, then continue with --again"
                )
    counts = Counter(entry.outcome for entry in seen)
    if as_json:
        print_json({"out": str(out)} | dict(counts))
    else:
        text = f"{counts['recorded']} of {len(seen)} pages recorded, {counts['failed']} failed"
        say(
            results,
            f"{text}; the table is {out / FILE}, checks are in {folder_of(str(out))}",
        )
    end_at("corpus", out, as_json=as_json)
    if not counts["recorded"]:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Session:
    """Settings for recording all pages of one call."""

    out: Path
    ledger: Ledger
    loads: int
    upstream_ca: Path | None
    allow: Sequence[str]

    def record(self, url: str, before: Entry | None) -> Entry:
        """Record one page and add its line to the table.

        Raises `BrowserStartError` and `OSError`.
        """
        name = self.ledger.name_for(before, partial(name_of_page, url))
        file = self.out / f"{name}.wacz"
        reason = ""
        with folder_beside(file) as draft:
            made = draft / file.name
            try:
                record_page(url, made, self.upstream_ca, self.allow)
                if failed := find_error_answer(made):
                    reason = f"{failed}, so it is not kept"
            except BrowserStartError:
                raise
            except (ExpectedError, BrowserError) as error:
                detail = " ".join(str(error).split()) or type(error).__name__
                reason = detail.removeprefix(f"recording {url} failed: ")
            entry = Entry(name, url, "failed" if reason else "recorded", reason)
            # The entry first: a file without one would be taken for the user's own.
            self.ledger.put(entry)
            if entry.is_there:
                made.chmod(0o644)
                made.rename(file)
        return entry

    def check(self, entry: Entry, screen: Screen) -> bool:
        """Check a recording, and report if it is not fit; returns whether there was nothing to do.

        That is so if its check is stored, if it is absent, or if checks are disabled.
        """
        if not (self.loads and entry.is_there):
            return True
        member = Member(entry.name, str(recording_in(self.out, entry)))
        check, is_kept = check_member(member, folder_of(str(self.out)), self.loads)
        if check.reason:
            reason = f"recorded, but not fit to be measured: {check.reason}"
            say(screen, f"{entry.source}: {reason}")
        return is_kept


def _is_wanted(before: Entry, out: Path, again: bool) -> bool:
    return recording_in(out, before) is None if before.is_there else again


def _tell_unknown(name: str) -> None:
    published = PUBLISHED_LISTS[name]
    without = len(published.named) - len(published.urls)
    also = f", and {without} more are names without an address" if without else ""
    say(
        hints,
        f"{name}: {len(published.urls)} of {published.count} pages are named in the "
        f"publication{also}; {published.unknown} are unknown ({published.source})",
    )


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
