"""An object is created once, whatever is said about it."""

import pytest
from faulty_bucket import FaultyBucket

from eyelevel.run.bucket.copies import TRIES, DifferentError, put_once
from eyelevel.run.bucket.objects import BucketError


def scripted(*faults):
    left = list(faults)
    return FaultyBucket(lambda name: left.pop(0) if left else "")


def test_what_is_not_there_is_created():
    bucket = scripted()
    put_once(bucket, "a", b"1")
    assert bucket.get("a", 9) == b"1" and bucket.tried == ["a"]


def test_a_conflict_after_which_nothing_is_there_is_tried_again():
    bucket, pauses = scripted("conflict, nothing landed", "conflict, nothing landed"), []
    put_once(bucket, "a", b"1", pause=pauses.append)
    assert bucket.get("a", 9) == b"1"
    assert pauses == [0.1, 0.2]


def test_a_conflict_without_end_is_said():
    bucket = scripted(*["conflict, nothing landed"] * 99)
    with pytest.raises(BucketError, match="said to exist, but it does not"):
        put_once(bucket, "a", b"1", pause=lambda s: None)
    assert len(bucket.tried) == TRIES


def test_what_landed_before_its_answer_was_lost_is_found_equal():
    bucket = scripted("landed, answer lost")
    with pytest.raises(BucketError):
        put_once(bucket, "a", b"1")
    put_once(bucket, "a", b"1", pause=pytest.fail)


def test_another_one_is_told_from_it_and_left():
    bucket = scripted()
    bucket.create("a", b"2")
    with pytest.raises(DifferentError, match="a is there already and differs"):
        put_once(bucket, "a", b"1", pause=pytest.fail)
    assert bucket.get("a", 9) == b"2"


def test_of_a_longer_one_no_more_is_read_than_tells_it_apart():
    bucket = scripted()
    bucket.create("a", b"1" * (3 << 20))
    with pytest.raises(DifferentError):
        put_once(bucket, "a", b"1", pause=pytest.fail)
    assert len(bucket.get("a", 5)) == 6
