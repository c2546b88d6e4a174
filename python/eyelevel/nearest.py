"""The nearest known word to one that is not known, for messages."""

from collections.abc import Iterable
from difflib import get_close_matches

KNOWN_SHOWN_MAX = 30  # a message stays one line that can be read


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when none is alike."""
    by_lower_case = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.5)
    return by_lower_case[found[0]] if found else None


def unknown(kind: str, word: str, known: Iterable[str]) -> str:
    """One clause: the word is not known, did you mean, or which there are."""
    names = list(known)
    close = nearest(word, names)
    shown = ", ".join(names[:KNOWN_SHOWN_MAX]) + (", ..." if len(names) > KNOWN_SHOWN_MAX else "")
    hint = f"did you mean `{close}`?" if close else f"known: {shown}"
    return f"unknown {kind} `{word}`; {hint}"
