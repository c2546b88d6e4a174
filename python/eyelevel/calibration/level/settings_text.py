"""Describe settings in words: each states what is in force, not its effect."""

from collections.abc import Callable
from functools import wraps

from eyelevel.plan.stacks import Stack

Says = Callable[[Stack], str]

ITS_OWN = "its own"
"""The text of a setting that an external server decides and that cannot be read back
(docs/guides/external-server.md)."""


def of_our_servers(says: Says) -> Says:
    """Decorate the text of a setting that only our servers have."""

    @wraps(says)
    def said(s: Stack) -> str:
        return says(s) if s.is_ours else ITS_OWN

    return said


def no_priorities(s: Stack) -> str:
    """Return why a stack's responses have no priorities; empty if they have."""
    h1 = not s.schedules_responses
    return "HTTP/1.1 has one response a connection at a time, and no priorities" if h1 else ""


def no_scheduler(s: Stack) -> str:
    """Return why a stack has no response scheduler; empty if it has one."""
    h1 = not s.schedules_responses
    return "HTTP/1.1 has one response a connection at a time, and no scheduler" if h1 else ""


def no_tls(s: Stack) -> str:
    """Return why a stack has no TLS handshake; empty if it has one."""
    return "cleartext has no TLS" if not s.over_tls else ""
