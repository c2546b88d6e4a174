"""What strangers wrote, as words of a message: no part of it steers a terminal."""

import json
import re
import unicodedata

STEERING = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode's categories that are no text: controls (C0, C1), formats (overrides of direction among
them), surrogates, what is private or unassigned, and separators of lines."""

QUOTED_MAX = 120
"""Characters of a stranger's word in a message: enough to find it again."""


def plain(text: str, keep: str = "\n") -> str:
    """`text` with all that would steer a terminal spelled out, such as `\\x1b`, but for `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        ascii(c)[1:-1] if unicodedata.category(c) in STEERING and c not in keep else c for c in text
    )


_STEERING_IN_JSON = re.compile("[^\x00-\x7e\xa0-\u04ff\u3000-\ud7ff]")
"""What may be no text: JSON itself escapes C0, and these ranges but for soft hyphens are letters
and signs."""


def plain_json(text: str) -> str:
    """JSON of the same value, in which all that would steer a terminal is escaped."""
    return _STEERING_IN_JSON.sub(_escaped, text).replace("\xad", "\\u00ad")


def _escaped(found: re.Match[str]) -> str:
    c = found[0]
    return json.dumps(c)[1:-1] if c == "\x7f" or unicodedata.category(c) in STEERING else c


def quoted(value: object) -> str:
    """A stranger's value in a message: on one line, and short."""
    text = " ".join(str(value)[: 2 * QUOTED_MAX].split())
    shown = plain(text, keep="")
    return shown if len(shown) <= QUOTED_MAX else shown[: QUOTED_MAX - 3] + "..."
