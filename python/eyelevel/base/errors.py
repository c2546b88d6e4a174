"""Every error that callers distinguish, and helpers for messages.

The command prints any `ExpectedError` without a traceback.
"""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class ExpectedError(Exception):
    """Something that a user can cause or fix; its message has attempt, subject and remedy."""


class Terminated(BaseException):
    """SIGTERM or SIGHUP was received: the command ends its browsers and labs, and exits."""


INTERRUPTS = (KeyboardInterrupt, Terminated)
"""Ways in which a user ends a command, which then reports its progress and how to resume."""
EXIT_INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended, as shells have it: 128 and the signal's number."""


class BrowserError(Exception):
    """Base of all errors of the browser driver; a trial converts them to outcomes."""


class BrowserStartError(BrowserError, ExpectedError):
    """The browser could not be started, or is not usable on this machine."""


class ConfinementError(BrowserStartError):
    """Untrusted code cannot be confined on this machine, so it is not started."""


class BrowserGoneError(BrowserError):
    """The browser crashed, exited or closed its pipe."""


class DeadlineError(BrowserError):
    """The browser did not answer in time."""


class CommandError(BrowserError):
    """The browser refused a DevTools command."""


class BrowserMessageError(BrowserError):
    """The browser sent an invalid message."""


class PageAnswerError(BrowserError):
    """A page's timings could not be read, or disagree with the browser's events."""


class AllFailedError(ExpectedError):
    """Every load or attempt failed, so there is no result; the message names the cause."""


class LaterError(ExpectedError):
    """Something outside did not answer: the same command may continue from here later."""


class ConnectionLogError(ExpectedError):
    """A connection log cannot be read, or has no such connection."""


class CorpusError(ExpectedError):
    """A corpus, a list of pages or a selection is invalid.

    The message is one line with a remedy.
    """


class ExportError(ExpectedError):
    """A load or a site cannot be written in the requested format."""


class InputChangedError(ExpectedError):
    """A recording or trace changed since the plan was made, so the run ends.

    No further load would be of the plan. Committed loads stay, and the run can be resumed once the
    file is restored.
    """


class InstallError(ExpectedError):
    """A missing program could not be installed."""


class LabError(ExpectedError):
    """A lab could not be built, or it failed; the message is one line with a remedy."""


class NetworkError(ExpectedError):
    """A network is unknown, or its description is invalid; the message has a remedy."""


class OutsideError(ExpectedError):
    """Untrusted input was refused; the message has file, place, fault and remedy."""


class PathLogError(ExpectedError):
    """A path log is invalid; the message has file, place and remedy."""


class PlanError(ExpectedError):
    """A plan is invalid; the message has file, line, fault and remedy.

    `problems` lists all faults, one line each; the message consists of these lines.
    """

    def __init__(self, problems: list[str]) -> None:
        """Join the problems to the message."""
        super().__init__("\n".join(problems))
        self.problems = problems


class ProbeError(ExpectedError):
    """A file of probes cannot be read, or an option is invalid; one line with a remedy."""


class ScanError(ExpectedError):
    """A list cannot be read, or an option is invalid; one line with a remedy."""


class StoreError(ExpectedError):
    """A stored file is missing, damaged or of another version; the message names it."""


class TraceError(ExpectedError):
    """A trace is invalid; the message has file, line and remedy."""


class VideoError(ExpectedError):
    """A video could not be read."""


class WriteError(ExpectedError):
    """A result cannot be written; the message has the path and a remedy."""

    def __init__(self, place: Path, why: str) -> None:
        """Make the message `writing PLACE: WHY`; `why` includes the remedy."""
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
"""Text and remedy of system errors, by errno."""


def refusal_of(error: OSError) -> str:
    """Return why the system refused, and a remedy."""
    reason = error.strerror or str(error)
    why, remedy = REFUSALS.get(error.errno or 0, (reason, "check that it is there and can be used"))
    return f"{why}; {remedy}"


def reason_of(details: "ErrorDetails") -> str:
    """Return why pydantic refused a value; for our own validators, their message."""
    own = details.get("ctx", {}).get("error")
    return str(own) if isinstance(own, Exception) else details["msg"]


KNOWN_SHOWN_MAX = 30  # a message stays one readable line
WORD_SHOWN_MAX = 120


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most similar to `word`, or None if none is similar."""
    by_lower_case = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.5)
    return by_lower_case[found[0]] if found else None


MEANT = {"stack": {"http3": "quic", "http/3": "quic", "h3": "quic", "http2": "tcp", "h2": "tcp"}}
"""Synonyms of our names, by kind, for which spelling alone would suggest another name."""


def unknown(kind: str, word: str, known: Iterable[str]) -> str:
    """Return a clause: the word is unknown, with the most similar name or a list of all."""
    names = list(known)
    meant = MEANT.get(kind, {}).get(word.lower())
    word = word if len(word) <= WORD_SHOWN_MAX else f"{word[: WORD_SHOWN_MAX - 3]}..."
    close = meant if meant in names else nearest(word, names)
    listed = ", ".join(names[:KNOWN_SHOWN_MAX]) + (", ..." if len(names) > KNOWN_SHOWN_MAX else "")
    hint = f"did you mean `{close}`?" if close else f"known: {listed}"
    return f"unknown {kind} `{word}`; {hint}"
