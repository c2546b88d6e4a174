"""One canonical form of JSON, and the short hash that identifies a trial by it."""

import hashlib
import json
from typing import Any

HASH_HEX_DIGITS = 20  # 80 bits: no collision to fear among a million million trials


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, no escapes beyond JSON's own and no NaN.

    A whole-numbered float is written as an integer, so that `12` and `12.0`, which a plan may
    spell either way, are one value with one hash. Raises ValueError for NaN and infinities.
    """
    return json.dumps(
        _whole_floats_as_integers(value),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )


def content_hash(value: Any) -> str:
    """The first 20 hex digits of SHA-256 over the canonical JSON of `value`."""
    digest = hashlib.sha256(canonical_json(value).encode())
    return digest.hexdigest()[:HASH_HEX_DIGITS]


def _whole_floats_as_integers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_floats_as_integers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_floats_as_integers(item) for item in value]
    return value
