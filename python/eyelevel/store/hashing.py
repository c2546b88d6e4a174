"""Write JSON in one canonical form, and compute the short hash that identifies a trial by it."""

import hashlib
import json
import re

HASH_HEX_DIGITS = 20  # 80 bits: no collision to fear among a million million trials

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
# How a whole float ends; most values have none and are done, though versions hold many a ".0".
_WHOLE_FLOAT = re.compile(r"(?:\.0|e\+\d+)(?:[,\]}]|$)")


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys, no spaces, no escapes beyond JSON's own and no NaN.

    A whole-numbered float is written as an integer, so that `12` and `12.0`, which a plan may
    spell either way, are one value with one hash. Raises ValueError for NaN and infinities.
    """
    text = _ENCODER.encode(value)
    if _WHOLE_FLOAT.search(text):
        text = _ENCODER.encode(whole_floats_as_integers(value))
    return text


def content_hash(value: object) -> str:
    """Return the first 20 hex digits of SHA-256 over the canonical JSON of `value`."""
    return short_hash(canonical_json(value))


def short_hash(text: str) -> str:
    """Return the first 20 hex digits of SHA-256 over a text, for one that is canonical JSON
    already."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_HEX_DIGITS]


def whole_floats_as_integers(value: object) -> object:
    """Return a copy of a JSON value in which every whole-numbered float is an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole_floats_as_integers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole_floats_as_integers(item) for item in value]
    return value
