"""One canonical form of JSON, and the short hash that identifies a trial by it."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

HASH_HEX_DIGITS = 20  # 80 bits: no collision to fear among a million million trials


_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, no escapes beyond JSON's own and no NaN.

    A whole-numbered float is written as an integer, so that `12` and `12.0`, which a plan may
    spell either way, are one value with one hash. Raises ValueError for NaN and infinities.
    """
    text = _ENCODER.encode(value)
    # A whole float is written with one of these; most values have none and are done.
    if ".0" in text or "e+" in text:
        text = _ENCODER.encode(whole_floats_as_integers(value))
    return text


def content_hash(value: Any) -> str:
    """The first 20 hex digits of SHA-256 over the canonical JSON of `value`."""
    return _short_hash(canonical_json(value))


def content_hash_of_parts(parts: Mapping[str, str]) -> str:
    """The content hash of an object whose values are given as canonical JSON already."""
    members = ",".join(f"{_quoted(key)}:{parts[key]}" for key in sorted(parts))
    return _short_hash(f"{{{members}}}")


@cache
def _quoted(key: str) -> str:
    return canonical_json(key)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_HEX_DIGITS]


def whole_floats_as_integers(value: Any) -> Any:
    """A copy of a JSON value in which every whole-numbered float is an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole_floats_as_integers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole_floats_as_integers(item) for item in value]
    return value
