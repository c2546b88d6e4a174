"""Variants: other recordings of a plan's pages, each loaded with every stack in the same blocks.

A stack that loads a variant is named `VARIANT/STACK`, and everything that compares stacks compares
these. No name of a plan has a slash, so both can be read from the one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlsplit

from annotated_types import MinLen

from eyelevel.base.settings import LISTED, Settings
from eyelevel.plan.browser import BrowserChange
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.stacks import Stack

SLASH = "/"


@dataclass(frozen=True)
class LiveServer(Settings):
    """A server on this machine that answers for the origin of a variant's pages.

    Either it listens at `url`, or `command` starts it, with the port of `url` or a free one as
    PORT.
    """

    url: str | None = None
    command: Annotated[tuple[Annotated[str, MinLen(1)], ...], LISTED] = ()

    def refusal(self) -> str:
        """Return why it cannot be a server on this machine; empty if it can."""
        if self.url is None:
            return "" if self.command else "it has neither `url` nor `command`; give one of them"
        try:
            parts = urlsplit(self.url)
            host, port = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            return f"`{self.url}` is no URL; write it as `http://localhost:3000`"
        if parts.scheme != "http":
            return (
                f"`{self.url}`: the server is reached without TLS, which is our servers' part; "
                "write it as `http://localhost:3000`"
            )
        if not is_loopback(host) or port == 0:
            return f"`{self.url}` is not on this machine; write it as `http://localhost:3000`"
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            return (
                f"`{self.url}`: the page's path is that of `sites`, as in "
                "`live:https://shop.test/path`; leave it out here"
            )
        return ""


def is_loopback(host: str) -> bool:
    """Return whether a host's name always means this machine (RFC 6761, section 6.3)."""
    return host in LOOPBACK or host.endswith(".localhost")


LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Variant(Settings):
    """A variant of all of a plan's pages.

    Without recordings and edits, the plan's sites are loaded as they are.
    """

    name: str
    recordings: Annotated[tuple[str, ...], LISTED] = ()
    """The recordings in the place of the plan's `sites`, in their order."""
    edits: Annotated[tuple[str, ...], LISTED] = ()
    """The edits of each of its recordings, in their short forms (`eyelevel.plan.edits`)."""
    live: LiveServer | None = None
    """The server that answers for the pages' own origin, in the place of the recordings."""
    browser: BrowserChange | None = None
    """The browser settings in which its loads differ."""


def with_variants(stacks: Sequence[Stack], variants: Sequence[Variant]) -> tuple[Stack, ...]:
    """Return every stack once for each variant; the stacks themselves without variants."""
    if not variants:
        return tuple(stacks)
    return tuple(
        replace(stack, name=f"{variant.name}{SLASH}{stack.name}")
        for variant in variants
        for stack in stacks
    )


def variant_of(stack: str) -> str:
    """Return the name of the variant that a stack of this name loads; empty for the plan's
    sites."""
    return stack.rpartition(SLASH)[0]


def stack_alone(stack: str) -> str:
    """Return a stack's name without its variant's."""
    return stack.rpartition(SLASH)[2]


def are_variants(comparison: Comparison) -> bool:
    """Return whether a comparison is of two variants with one stack."""
    stack, reference = comparison.stack, comparison.reference
    return stack_alone(stack) == stack_alone(reference) and stack != reference


def against_variant(
    reference: str, variants: Sequence[Variant], stacks: Sequence[Stack]
) -> tuple[Comparison, ...]:
    """Return each other variant against `reference`, with every stack."""
    return tuple(
        Comparison(f"{variant.name}{SLASH}{stack.name}", f"{reference}{SLASH}{stack.name}")
        for variant in variants
        for stack in stacks
        if variant.name != reference
    )
