"""Check whether a message says what to do."""

import re

VERBS = (
    "add", "allow", "ask", "build", "change", "check", "choose", "close", "continue", "copy",
    "correct", "count", "create", "cut", "define", "delete", "divide", "drop", "export", "fetch",
    "end", "exchange", "free",
    "get", "give", "go", "import", "increase", "install", "keep", "leave", "let", "load",
    "log", "lower", "make", "mend", "move", "name", "open", "order", "pip", "probe", "put",
    "quote", "raise", "read", "record", "remove", "rename", "restore", "run", "save", "say",
    "scan", "see", "set", "shorten", "sort", "split", "start", "stop", "take", "try", "turn",
    "unset", "update", "use", "wait", "write",
)  # fmt: skip
ORDER = re.compile(
    rf"(?:[;:,(`] ?|\b(?:or|and|so|then|first:?|please) )(?:{'|'.join(VERBS)})\b"
    rf"|^(?:{'|'.join(VERBS)})\b(?![^;]*: )"
    r"|did you mean|known:|: known |eyelevel [a-z]+|(?:should|must|has to|cannot but) be\b"
    r"|--[a-z-]+ (?:has|goes|puts|makes|needs|takes)\b|\btakes\b|\bmust (?!not)",
)
"""A clause that orders something, names what is known, or says what the value is to be; not
the attempt in front, as in `read FILE: no such file`."""


def has_remedy(message: str) -> bool:
    """Return whether it has a way out, as far as words show that."""
    return ORDER.search(message) is not None
