"""A run and its copy: the directory decides, and what it has is in the bucket once, or will be."""

import shutil

import pytest
from bad_samples import stops
from copied_runs import MACHINE, URL, copies, copy_all, tree, write_machine
from faulty_bucket import Clock, FaultyBucket

from eyelevel.run.bucket.copies import END_S_MAX, PAUSE_S, CopiesUnfinishedError, DifferentError
from eyelevel.run.bucket.fetch import fetch_run
from eyelevel.run.bucket.objects import BucketError


def assert_is_copied(run, bucket):
    fetched = run.directory.with_name("fetched")
    fetch_run(bucket, URL, fetched)
    assert tree(fetched) == tree(run.directory)


def blocks_in(names):
    return sorted(name for name in names if name.startswith("blocks/"))


def take_away(run):
    """The run as it begins; gives back what commits a block's trial."""
    aside = run.directory.with_name("aside")
    shutil.move(run.directory / "trials", aside)

    def commit(name):
        (run.directory / "trials").mkdir(exist_ok=True)
        shutil.move(aside / name, run.directory / "trials" / name)

    return commit


def test_a_run_that_was_copied_is_fetched_byte_for_byte(run):
    copy_all(run, bucket := FaultyBucket())
    assert_is_copied(run, bucket)


def test_a_block_is_put_once_it_is_whole_and_before_the_next_load(run):
    commit, bucket = take_away(run), FaultyBucket()
    copying = copies(run, bucket)
    copying.begin()
    first, *rest = run.blocks[0]
    commit(first)
    copying.committed([first])
    assert not blocks_in(bucket.tried)
    for name in rest:
        commit(name)
    copying.committed(rest)
    copying.committed(rest)  # as a late second answer tells it
    assert blocks_in(bucket.tried) == ["blocks/0000000.zip"]
    assert bucket.get("blocks/0000000.zip", 1) is not None
    copying.close()


def test_a_network_that_fails_halfway_stops_no_load_and_all_is_there_in_the_end(run):
    commit, clock, told = take_away(run), Clock(), []
    is_down = []
    bucket = FaultyBucket(lambda name: "network" if is_down else "")
    copying = copies(run, bucket, clock, on_message=told.append)
    copying.begin()
    for number, block in enumerate(run.blocks):
        is_down[:] = [True] if 3 <= number < 9 else []
        for name in block:
            commit(name)
        copying.committed(block)
        clock.now_s += 5
    # Down from the 4th block on, a block in 5 s: tried at once and after PAUSE_S, and not since.
    assert bucket.tried.count("blocks/0000003.zip") == 2
    assert len(told) == 1 and "the run continues" in told[0]
    copying.finish()
    copying.close()
    assert_is_copied(run, bucket)


def test_beside_loads_nobody_waits_and_the_end_does(run):
    copying = copies(run, bucket := FaultyBucket(), beside=True)
    copying.begin()
    copying.finish()
    copying.close()
    assert_is_copied(run, bucket)


def test_a_bucket_that_never_answers_ends_the_run_with_what_is_left_which_resuming_puts(run):
    clock, is_down = Clock(), [True]
    bucket = FaultyBucket(lambda name: "network" if is_down and "blocks" in name else "")
    with pytest.raises(CopiesUnfinishedError, match=r"12 objects are not there yet \(using memory"):
        copy_all(run, bucket, clock)
    assert END_S_MAX <= clock.now_s < END_S_MAX + PAUSE_S
    is_down.clear()
    copy_all(run, bucket)
    assert_is_copied(run, bucket)


@pytest.mark.parametrize("fault", ["conflict, nothing landed", "landed, answer lost"])
def test_every_object_may_be_said_to_be_what_it_is_not(run, fault):
    met = set()

    def once(name):
        if name in met or "/" not in name:  # a run begins with what answers
            return ""
        met.add(name)
        return fault

    copy_all(run, bucket := FaultyBucket(once))
    assert {"blocks/0000000.zip"} <= met
    assert_is_copied(run, bucket)


def test_resuming_puts_what_is_missing_and_reads_nothing_back(run):
    copy_all(run, bucket := FaultyBucket())
    gone = "blocks/0000004.zip"
    other = FaultyBucket()
    for name in {*bucket.tried} - {gone}:
        other.create(name, bucket.get(name, 10**9))
    other.tried.clear()
    copy_all(run, other)
    assert blocks_in(other.tried) == [gone]
    assert not blocks_in(other.read)


def test_who_does_not_know_what_is_there_reads_it_back_and_puts_nothing(run):
    copy_all(run, bucket := FaultyBucket())
    for known in run.directory.glob(".copied-*"):
        known.unlink()
    bucket.read.clear()
    copy_all(run, bucket)
    assert len(blocks_in(bucket.read)) == 12
    assert_is_copied(run, bucket)


def test_a_line_that_was_cut_off_costs_one_reading_back(run):
    copy_all(run, bucket := FaultyBucket())
    (known,) = run.directory.glob(".copied-*")
    known.write_bytes(known.read_bytes()[:-3])
    bucket.read.clear()
    copy_all(run, bucket)
    copy_all(run, bucket)
    assert len(blocks_in(bucket.read)) == 1


def test_another_block_in_the_bucket_stops_the_run_in_one_line(run):
    commit, bucket = take_away(run), FaultyBucket()
    copying = copies(run, bucket)
    copying.begin()
    bucket.real.create("blocks/0000000.zip", b"another")
    for name in run.blocks[0]:
        commit(name)
    with pytest.raises(DifferentError, match=r"blocks/0000000\.zip is there already") as caught:
        copying.committed(run.blocks[0])
    copying.close()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [("plan.json", "another plan's run is there"), ("environment.json", "another run of this")],
)
def test_the_bucket_of_another_run_is_refused_before_anything_is_put(run, name, said):
    bucket = FaultyBucket()
    bucket.real.create(name, b"{}")
    copying = copies(run, bucket)
    with pytest.raises(DifferentError, match=said):
        copying.begin()
    copying.close()
    assert not blocks_in(bucket.tried)


def test_a_bucket_that_does_not_answer_at_the_beginning_is_said(run):
    copying = copies(run, FaultyBucket(lambda name: "network"))
    with pytest.raises(BucketError, match="connection refused"):
        copying.begin()
    copying.close()


def test_what_a_run_writes_anew_is_put_anew(run):
    copy_all(run, bucket := FaultyBucket())
    write_machine(run.directory, MACHINE, 2)
    write_machine(run.directory, "9876543210", 2)
    (run.directory / "stop.json").write_bytes(stops()[0])
    copy_all(run, bucket)
    assert_is_copied(run, bucket)


def test_what_is_said_has_how_much_is_left(run):
    shown = []
    copying = copies(run, FaultyBucket())
    copying.begin(shown.append)
    copying.close()
    assert shown[0].startswith(f"copying to {URL}: 13 objects left")
