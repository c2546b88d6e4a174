"""Import a folder of other tools' recordings (`eyelevel corpus import`).

Show progress through a corpus: a bar with the time left, and persistent lines above it.
"""

import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from eyelevel.base.errors import CorpusError
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import LogLines, Screen, hints, print_json, results, say
from eyelevel.cli.values import duration, viewport_px
from eyelevel.sites.corpora.importing import TIME_LIMIT_S, Wishes, import_all
from eyelevel.sites.corpora.ledger import FILE, Entry, own_ledger
from eyelevel.sites.corpora.sources import find_sources


def import_corpus(
    folder: Annotated[
        Path,
        typer.Argument(
            help=(
                "The folder to search, at any depth, for Mahimahi folders, WARC, WACZ, HAR and "
                "other recordings."
            )
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the corpus; created if missing.")],
    secure: Annotated[
        bool,
        typer.Option(
            "--secure",
            help=(
                "Turn http origins into https and rewrite links; each site is marked as altered."
            ),
        ),
    ] = False,
    viewport: Annotated[
        str,
        typer.Option(
            help="The viewport in which the pages were recorded, in CSS pixels, such as 1366x768."
        ),
    ] = "",
    time_limit_s: Annotated[
        float,
        typer.Option(
            "--time-limit", min=1, max=600, help="The time limit for one recording, in seconds."
        ),
    ] = TIME_LIMIT_S,
    again: Annotated[
        bool, typer.Option("--again", help="Try again what was refused before.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import hundreds of other tools' recordings into one folder, with a table of all.

    If a recording is refused, one line says why, here and in the table, and the import
    continues with the others. Give the same command again after an interruption: what is there
    already is skipped, unless it was imported with another `--secure` or `--viewport`. Exits 1
    if none could be read.
    """
    if viewport:
        try:
            viewport_px(viewport)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--viewport") from error
    if out.resolve().is_relative_to(folder.resolve()):
        raise CorpusError(f"--out {out} lies in {folder}, which is searched; choose one outside it")
    with hints.waiting(f"searching {folder}"):
        sources, others = find_sources(folder)
    if not sources:
        raise CorpusError(
            f"{folder}: no recording among {others:,} files; give a folder of {KINDS}"
        )
    ledger = own_ledger(out)
    wishes = Wishes(secure, viewport, time_limit_s, again)
    seen: list[Entry] = []
    new = 0
    below = {source.origin: source.key for source in sources}
    with Steps("importing", len(sources)) as steps:

        def tell(entry: Entry, is_passed_over: bool) -> None:
            nonlocal new
            seen.append(entry)
            new += entry.is_there and not is_passed_over
            steps.end(entry.name, passed_over=is_passed_over)
            if not entry.is_there:
                say(steps.screen, f"{below[entry.source]}: {entry.outcome}: {entry.reason}")

        import_all(sources, ledger, out, wishes, tell)
    counts = Counter(entry.outcome for entry in seen)
    if as_json:
        print_json(
            {
                "out": str(out),
                "other_files": others,
                "imported": counts["imported"],
                "imported_now": new,
                "refused": counts["refused"],
                "reasons": {below[e.source]: e.reason for e in seen if not e.is_there},
            }
        )
    else:
        say(
            results,
            f"{counts['imported']} of {len(seen)} recordings imported, {new} of them now, "
            f"{counts['refused']} refused; {others:,} other files; each in {out / FILE}",
        )
    end_at("corpus", out, as_json=as_json)
    if not counts["imported"]:
        raise typer.Exit(1)


KINDS = (
    "WACZ, WARC and HAR files, Mahimahi's folders, Web Page Replay's archives, mitmproxy's flows"
)


class Steps:
    """A progress bar of `total` recordings on standard error, for the duration of a `with` block.

    On Ctrl-C or SIGTERM the final line states that finished recordings are kept.
    """

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._bar = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}", markup=False),
            console=hints,
            auto_refresh=False,  # nothing is drawn during a load
            disable=not hints.is_terminal,
        )
        self._log = LogLines(hints)
        self._began_s = time.monotonic()
        self._done = self._passed = 0

    def __enter__(self) -> Self:
        self._bar.start()
        self._task = self._bar.add_task(self._what, total=self._total, left="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
        # Exceptions for signals are not subclasses of `Exception`.
        if kind is not None and not issubclass(kind, Exception):
            done = f"stopped after {self._done} of {self._total}"
            hints.print(f"{done}: the same command continues where it stopped", markup=False)

    @property
    def screen(self) -> Screen:
        """Console for lines above the bar."""
        return hints

    def begin(self, name: str) -> None:
        """Show that work on `name` begins."""
        self._show(f"{self._what} {name}")

    def end(self, name: str, *, passed_over: bool = False) -> None:
        """Count `name` as done.

        Recordings that were passed over do not affect the estimated time.
        """
        self._done += 1
        self._passed += passed_over
        self._show(name)

    def _show(self, message: str) -> None:
        worked = self._done - self._passed
        each_s = (time.monotonic() - self._began_s) / worked if worked else 0.0
        left_s = each_s * (self._total - self._done)
        left = f"{duration(left_s)} left" if left_s >= 1 else ""
        self._bar.update(
            self._task, completed=self._done, description=message, left=left, refresh=True
        )
        self._log.tell(f"{self._done} of {self._total}", left, message)
