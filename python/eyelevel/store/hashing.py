"""Write canonical JSON, and compute from it the short hash that identifies a trial."""

import hashlib
import json
import re

HASH_HEX_DIGITS = 20  # 80 bits: a collision is unlikely below 10^12 trials

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
# The end of an integral float. Most values have none, so this is a cheap first check.
_WHOLE_FLOAT = re.compile(r"(?:\.0|e\+\d+)(?:[,\]}]|$)")


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys, no spaces, minimal escapes and no NaN.

    Integral floats are written as integers, so that `12` and `12.0`, which are the same in a plan,
    have one hash. Raises `ValueError` for NaN and infinities.
    """
    text = _ENCODER.encode(value)
    if _WHOLE_FLOAT.search(text):
        text = _ENCODER.encode(whole_floats_as_integers(value))
    return text


def content_hash(value: object) -> str:
    """Return the first 20 hex digits of the SHA-256 of the canonical JSON of `value`."""
    return short_hash(canonical_json(value))


def short_hash(text: str) -> str:
    """Return the first 20 hex digits of the SHA-256 of a text that is canonical JSON already."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_HEX_DIGITS]


def whole_floats_as_integers(value: object) -> object:
    """Return a copy of a JSON value in which every integral float is an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole_floats_as_integers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole_floats_as_integers(item) for item in value]
    return value
