"""Every error that callers tell apart, and the help that a message gives.

The command knows ExpectedError without knowing who raises it.
"""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class ExpectedError(Exception):
    """Something that a user can cause or mend; its message gives attempt, subject and way out."""


class Terminated(BaseException):
    """SIGTERM or SIGHUP: the command ends in order, browsers, labs and folders with it."""


INTERRUPTS = (KeyboardInterrupt, Terminated)
"""A user's ways to end a command, which then says how far it came and what goes on."""


class BrowserError(Exception):
    """Base of all errors of the browser driver; a trial makes outcomes of them."""


class BrowserStartError(BrowserError, ExpectedError):
    """The browser could not be started or is not usable here."""


class ConfinementError(BrowserStartError):
    """A stranger's code cannot be confined here, so it is not started."""


class BrowserGoneError(BrowserError):
    """The browser crashed, exited or closed its pipe."""


class DeadlineError(BrowserError):
    """The browser did not answer in time."""


class CommandError(BrowserError):
    """The browser refused a DevTools command."""


class BrowserMessageError(BrowserError):
    """The browser sent a message that cannot be."""


class PageAnswerError(BrowserError):
    """A page's timings could not be read, or disagree with the browser's events."""


class AllFailedError(ExpectedError):
    """Every load or attempt failed, so there is no result; the message names the cause."""


class LaterError(ExpectedError):
    """Something outside did not answer: the same command may go on from here later."""


class ConnectionLogError(ExpectedError):
    """A log that cannot be read, or a connection that is not there."""


class CorpusError(ExpectedError):
    """A corpus, a list of pages or a selection is refused; one line with the way out."""


class ExportError(ExpectedError):
    """A load or a site cannot be written in another tool's format as asked."""


class InputChangedError(ExpectedError):
    """A recording or a trace is another than the one that the plan was made of: the run ends.

    No load of it would be of the plan. What is committed stays, and the run goes on once the file
    is restored.
    """


class InstallError(ExpectedError):
    """A missing program could not be installed."""


class LabError(ExpectedError):
    """A lab could not be built, or it failed while it was up; one line with the way out."""


class NetworkError(ExpectedError):
    """A network is not known, or its description is refused; the message names the way out."""


class OutsideError(ExpectedError):
    """Untrusted input was refused; the line names file, place, fault and remedy."""


class PathLogError(ExpectedError):
    """A log is refused; the message names the file, the place and the remedy."""


class PlanError(ExpectedError):
    """A plan is refused; the message gives file, line, what is wrong and the way out.

    `problems` lists all that were found, one line each; the message is these lines.
    """

    def __init__(self, problems: list[str]) -> None:
        """Keep the problems and make them the message."""
        super().__init__("\n".join(problems))
        self.problems = problems


class ProbeError(ExpectedError):
    """A file of probes cannot be read, or an option does not fit; one line with the way out."""


class ScanError(ExpectedError):
    """A list cannot be read, or an option does not fit; one line with the way out."""


class StoreError(ExpectedError):
    """A stored file is missing, damaged or of another version; the message names it."""


class TraceError(ExpectedError):
    """A trace is refused; the message names file, line and remedy."""


class VideoError(ExpectedError):
    """A video could not be read."""


class WriteError(ExpectedError):
    """A result cannot be written; the message names the place and the remedy."""

    def __init__(self, place: Path, why: str) -> None:
        """The message is `writing PLACE: WHY`; `why` has the way out."""
        super().__init__(f"writing {place}: {why}")
        self.place = place


REFUSALS: dict[int, tuple[str, str]] = {
    errno.ENOENT: ("there is no such file", "check its name, as seen from this folder"),
    errno.EACCES: (
        "this user is not allowed to",
        "change its permissions, or run this as a user who is allowed to",
    ),
    errno.EPERM: (
        "this user is not allowed to",
        "change its permissions, or run this as a user who is allowed to",
    ),
    errno.EISDIR: ("it is a folder", "name a file"),
    errno.ENOTDIR: ("a part of it is not a folder", "name a folder"),
    errno.EEXIST: ("it is there already", "name another one"),
    errno.ENOSPC: ("the disk is full", "make room on it, then run this again"),
    errno.EDQUOT: ("this user's share of the disk is full", "make room, then run this again"),
    errno.EROFS: ("the disk is read-only", "choose a place on another disk"),
    errno.ENAMETOOLONG: ("its name is too long", "give it a shorter name"),
    errno.EMFILE: ("too many files are open", "raise the limit: ulimit -n 65536"),
    errno.EADDRINUSE: ("another program listens there", "name another port"),
    errno.ENOMEM: ("there is no memory left", "end other programs"),
}
"""The system's errors in words, with what to do about each."""


def refusal_of(error: OSError) -> str:
    """Return why the system refused, and the way out."""
    said = error.strerror or str(error)
    why, remedy = REFUSALS.get(error.errno or 0, (said, "check that it is there and can be used"))
    return f"{why}; {remedy}"


def reason_of(details: "ErrorDetails") -> str:
    """Return why pydantic refused a value; of a validator of ours its own words."""
    own = details.get("ctx", {}).get("error")
    return str(own) if isinstance(own, Exception) else details["msg"]


KNOWN_SHOWN_MAX = 30  # a message stays one line that can be read
WORD_SHOWN_MAX = 120


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like `word`, or None when none is alike."""
    by_lower_case = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.5)
    return by_lower_case[found[0]] if found else None


MEANT = {"stack": {"http3": "quic", "http/3": "quic", "h3": "quic", "http2": "tcp", "h2": "tcp"}}
"""Other words for our names, by kind; spelling alone would suggest another name."""


def unknown(kind: str, word: str, known: Iterable[str]) -> str:
    """Return a clause: the word is unknown, with the nearest names or a list of all."""
    names = list(known)
    meant = MEANT.get(kind, {}).get(word.lower())
    word = word if len(word) <= WORD_SHOWN_MAX else f"{word[: WORD_SHOWN_MAX - 3]}..."
    close = meant if meant in names else nearest(word, names)
    shown = ", ".join(names[:KNOWN_SHOWN_MAX]) + (", ..." if len(names) > KNOWN_SHOWN_MAX else "")
    hint = f"did you mean `{close}`?" if close else f"known: {shown}"
    return f"unknown {kind} `{word}`; {hint}"
