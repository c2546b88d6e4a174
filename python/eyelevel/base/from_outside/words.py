"""Escape untrusted text for messages, so that it cannot control a terminal."""

import json
import re
import unicodedata

CONTROL_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode categories that are not text: controls (C0, C1), formats (including direction
overrides), surrogates, private and unassigned characters, and line separators.
"""

QUOTED_MAX = 120
"""Maximum length of an untrusted value in a message, in characters: enough to find it."""


def escape_control_characters(text: str, keep: str = "\n") -> str:
    """Return `text` with control characters other than `keep` escaped, such as `\\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        ascii(c)[1:-1] if unicodedata.category(c) in CONTROL_CATEGORIES and c not in keep else c
        for c in text
    )


_CONTROLS_IN_JSON = re.compile("[^\x00-\x7e\xa0-\u04ff\u3000-\ud7ff]")
"""Characters that may not be text: JSON escapes C0 itself, and the ranges excluded here contain
only letters and signs, except for the soft hyphen.
"""


def escape_control_characters_in_json(text: str) -> str:
    """Return JSON of the same value with control characters escaped."""
    return _CONTROLS_IN_JSON.sub(_escape, text).replace("\xad", "\\u00ad")


def _escape(found: re.Match[str]) -> str:
    c = found[0]
    return (
        json.dumps(c)[1:-1] if c == "\x7f" or unicodedata.category(c) in CONTROL_CATEGORIES else c
    )


def excerpt(value: object) -> str:
    """Return an untrusted value for a message: as one line, shortened and escaped."""
    text = " ".join(str(value)[: 2 * QUOTED_MAX].split())
    escaped = escape_control_characters(text, keep="")
    return escaped if len(escaped) <= QUOTED_MAX else escaped[: QUOTED_MAX - 3] + "..."
