import hashlib

import pytest

from eyelevel.store.hashing import canonical_json, content_hash


def test_canonical_json_sorts_keys_and_drops_spaces():
    assert canonical_json({"b": [1, 2.5], "a": "é"}) == '{"a":"é","b":[1,2.5]}'


def test_a_whole_float_and_an_integer_are_one_value():
    assert content_hash({"a": 12}) == content_hash({"a": 12.0})
    assert content_hash({"a": 12}) != content_hash({"a": 12.5})
    assert canonical_json([1e22, {"b": [2.0]}, 1.05, "1.0"]) == f'[{10**22},{{"b":[2]}},1.05,"1.0"]'


def test_booleans_are_not_taken_for_integers():
    assert content_hash(True) != content_hash(1)


def test_the_hash_is_the_start_of_sha256_over_the_text():
    assert content_hash({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()[:20]


def test_what_json_cannot_say_is_refused():
    with pytest.raises(ValueError):
        canonical_json({"a": float("nan")})
