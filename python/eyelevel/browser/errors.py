"""Errors of the browser driver; each message gives the attempt, the subject and the way out."""

from __future__ import annotations


class BrowserError(Exception):
    """Base of all errors of this package."""


class BrowserStartError(BrowserError):
    """The browser could not be started or is not usable here."""


class BrowserGoneError(BrowserError):
    """The browser crashed, exited or closed its pipe."""


class DeadlineError(BrowserError):
    """The browser did not answer in time."""


class CommandError(BrowserError):
    """The browser refused a DevTools command."""
