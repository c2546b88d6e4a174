"""The edits' reference page."""

from eyelevel.plan.edits import EDITS, EditKind

_WITHIN = {
    "page": "the page",
    "all": "all that it fits",
    "named": "no default",
    "none": "no `in`",
}

_HEAD = """\
# Edits of recordings

An edit is a declared change of recorded bytes. `eyelevel site edit SITE --change EDIT --out FILE`
writes the edited recording and how often each edit matched; a plan has edits as tables, such as
`{ defer = "/app.js", in = "/frame.html" }`. Bodies are decoded, changed, and encoded again in the
coding and at the level that they had. Every other byte stays.

| edit | value | what it does | limit | without `in` | short form |
| --- | --- | --- | --- | --- | --- |
"""

_TAIL = """
**Objects** are named by URL, with `*` for any characters: `/app.js` on the page's own origin,
`//cdn.example/*`, `https://cdn.example/a.js`, or a word without a slash, which is a host or the
name of a file. A query counts if the pattern has one. A **target** is an object, which stands for
the elements that name it, or a CSS selector (no sibling combinators). **In** limits an edit to
objects or documents.

An edit that matches nothing, or that all matches satisfy already, is an error that names the
nearest object or element. So is one that would damage a page: a charset that lacks a character, a
body that cannot be decoded, markup that a streaming parser cannot read for certain, a reference
to what was not recorded.

What follows from edits is done, too: `Content-Length`, `Content-Encoding`, `ETag` and `Vary` fit
the new bodies, digest fields are removed, integrity hashes of changed objects are computed again
in all texts and fields that name them, and policies get the hashes of inline scripts and styles
that an edit brought in. A derived recording says that it was altered, and each edit with its
matches.

Not done: responses that scripts build, `Link` fields, service workers' own caches, `srcset`
candidates one by one.

Written by `python -m eyelevel.cli.reference`; a test compares the two.
"""


def reference_page() -> str:
    """Return the text of `docs/reference/edits.md`."""
    return _HEAD + "".join(map(_row, EDITS)) + _TAIL


def _row(kind: EditKind) -> str:
    cells = [
        f"`{kind.name}`", kind.value, kind.does, kind.limit, _WITHIN[kind.within],
        f"`{kind.example}`",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |\n"
