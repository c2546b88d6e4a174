import hashlib

import pytest

from eyelevel.store.hashing import canonical_json, content_hash, whole_floats_as_integers


def test_canonical_json_sorts_keys_and_drops_spaces():
    assert canonical_json({"b": [1, 2.5], "a": "é"}) == '{"a":"é","b":[1,2.5]}'


def test_a_whole_float_and_an_integer_are_one_value():
    assert content_hash({"a": 12}) == content_hash({"a": 12.0})
    assert content_hash({"a": 12}) != content_hash({"a": 12.5})
    assert canonical_json([1e22, {"b": [2.0]}, 1.05, "1.0"]) == f'[{10**22},{{"b":[2]}},1.05,"1.0"]'


@pytest.mark.parametrize("value", [12.0, [12.0, 1], {"a": 12.0}, {"a": [12.0]}, 1e16, [2e22]])
def test_a_whole_float_is_found_wherever_it_stands(value):
    assert canonical_json(value) == canonical_json(whole_floats_as_integers(value))
    assert ".0" not in canonical_json(value) and "e+" not in canonical_json(value)


def test_texts_that_look_like_whole_floats_stay():
    assert canonical_json({"b": "156.0", "a.0,": "1e+3]"}) == '{"a.0,":"1e+3]","b":"156.0"}'


def test_booleans_are_not_taken_for_integers():
    assert content_hash(True) != content_hash(1)


def test_the_hash_is_the_start_of_sha256_over_the_text():
    assert content_hash({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()[:20]


def test_what_json_cannot_say_is_refused():
    with pytest.raises(ValueError):
        canonical_json({"a": float("nan")})
