import contextlib
import errno
import gzip
import json
import os
import resource
import threading

import numpy as np
import pytest
from sample_record import sample_record

from eyelevel.base.errors import StoreError
from eyelevel.store.commit import recover, write_block, write_trial
from eyelevel.store.directory import (
    PLAN_FILE,
    create_document,
    iterate_trials,
    list_committed,
    missing,
    read_document,
    read_trial,
    remove_leftovers,
    write_document,
)
from eyelevel.store.disk import watch_steps
from eyelevel.store.frames import Frame, Frames
from eyelevel.store.packed import pack


def test_a_trial_comes_back_as_written(tmp_path):
    record = sample_record()
    picture = np.full((4, 6, 3), 7, np.uint8)
    assert write_trial(tmp_path, record, Frames.of([Frame(0.0, picture)]))
    found = read_trial(tmp_path, record["trial"]["hash"])
    assert found.record == record
    (frame,) = found.frames()
    assert frame.at_ms == 0.0
    assert np.array_equal(frame.picture, picture)


def test_the_first_writer_wins(tmp_path):
    first, second = sample_record(page_load_time_ms=1.0), sample_record(page_load_time_ms=2.0)
    assert write_trial(tmp_path, first)
    assert not write_trial(tmp_path, second)
    assert read_trial(tmp_path, first["trial"]["hash"]).record == first


def test_pictures_of_a_trial_that_another_committed_are_kept_for_those_that_name_them(tmp_path):
    """Where a disk has no locks there are two clients, and a slot sends a picture once."""
    first, later = sample_record(), sample_record(repetition=2)
    assert write_trial(tmp_path, first)
    film = Frames.of([Frame(0.0, np.full((4, 6, 3), 7, np.uint8))])
    assert write_block(tmp_path, [pack(first, film)]) == []
    assert write_block(tmp_path, [pack(later, film, is_known=lambda _: True)])
    (frame,) = read_trial(tmp_path, later["trial"]["hash"]).frames()
    assert (frame.picture == 7).all()


def test_of_many_writers_at_once_exactly_one_wins(tmp_path):
    records = [sample_record(page_load_time_ms=float(index)) for index in range(8)]
    barrier = threading.Barrier(len(records))
    won = []

    def write(record):
        barrier.wait()
        if write_trial(tmp_path, record):
            won.append(record)

    threads = [threading.Thread(target=write, args=(record,)) for record in records]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert [trial.record for trial in iterate_trials(tmp_path)] == won
    assert remove_leftovers(tmp_path) == 0


def test_of_many_that_create_a_document_one_does_and_none_is_replaced(tmp_path):
    barrier, made = threading.Barrier(8), []

    def create(number):
        barrier.wait()
        if create_document(tmp_path, PLAN_FILE, {"number": number}):
            made.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and read_document(tmp_path, PLAN_FILE) == {"number": made[0]}
    assert [each.name for each in tmp_path.iterdir()] == [PLAN_FILE]


def test_a_document_is_created_where_files_have_no_second_names(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert create_document(tmp_path, PLAN_FILE, {"number": 1})
    assert not create_document(tmp_path, PLAN_FILE, {"number": 2})
    assert read_document(tmp_path, PLAN_FILE) == {"number": 1}
    assert [each.name for each in tmp_path.iterdir()] == [PLAN_FILE]


@pytest.mark.parametrize("step", ["block rename", "trial renamed", "block remove"])
def test_a_client_that_recovers_what_another_commits_at_that_moment_harms_nobody(tmp_path, step):
    """Where a disk has no locks nobody keeps it from that."""
    seen = []

    def recovered(reached):
        seen.append(reached)
        if reached == step and seen.count(step) == 1:
            with watch_steps(lambda _: None):
                recover(tmp_path)

    with watch_steps(recovered):
        write_trial(tmp_path, sample_record())
    assert len(list_committed(tmp_path)) == 1 and step in seen
    assert [each.name for each in (tmp_path / "trials").iterdir()] == list(list_committed(tmp_path))


def test_a_killed_writer_leaves_no_trial(tmp_path):
    (tmp_path / "trials" / ".writing-abc").mkdir(parents=True)
    assert list_committed(tmp_path) == set()
    assert remove_leftovers(tmp_path) == 1


@contextlib.contextmanager
def small_disk():
    """The kernel refuses files above 200 bytes: of the test's own output, too, if that is one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_refuses_names_the_file_and_keeps_nothing_half(tmp_path):
    record = sample_record()
    name = record["trial"]["hash"]
    said = rf"^writing .*/trials/{name}: File too large; "
    with pytest.raises(StoreError, match=said), small_disk():
        write_trial(tmp_path, record)
    said = r"^writing .*/plan\.json: File too large; "
    with pytest.raises(StoreError, match=said), small_disk():
        write_document(tmp_path, "plan.json", {"long": "x" * 500})
    assert [each.name for each in tmp_path.rglob("*")] == ["trials"]


def test_missing_keeps_the_plans_order(tmp_path):
    records = [sample_record(repetition=number) for number in (1, 2, 3)]
    hashes = [record["trial"]["hash"] for record in records]
    write_trial(tmp_path, records[1])
    assert missing(tmp_path, hashes) == [hashes[0], hashes[2]]


def test_a_record_outside_the_schema_is_never_written(tmp_path):
    record = sample_record() | {"outcome": "fine"}
    with pytest.raises(StoreError, match="`outcome`"):
        write_trial(tmp_path, record)
    assert list_committed(tmp_path) == set()


def damage(tmp_path, change):
    record = sample_record()
    write_trial(tmp_path, record)
    file = tmp_path / "trials" / record["trial"]["hash"] / "record.json.gz"
    file.write_bytes(gzip.compress(change(json.loads(gzip.decompress(file.read_bytes()))).encode()))
    with pytest.raises(StoreError, match=r"record\.json\.gz") as caught:
        list(iterate_trials(tmp_path))
    return str(caught.value)


def test_a_damaged_record_is_named(tmp_path):
    assert "not JSON" in damage(tmp_path, lambda record: json.dumps(record)[:100])


def test_a_record_that_was_cut_off_is_named(tmp_path):
    record = sample_record()
    write_trial(tmp_path, record)
    file = tmp_path / "trials" / record["trial"]["hash"] / "record.json.gz"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(StoreError, match=r"record\.json\.gz: damaged, not whole gzip data"):
        read_trial(tmp_path, record["trial"]["hash"])


def test_a_later_version_is_refused_with_both_versions(tmp_path):
    text = damage(tmp_path, lambda record: json.dumps(record | {"version": 2}))
    assert "version 2" in text and "version 1" in text


def test_a_record_changed_afterwards_is_refused(tmp_path):
    def change(record):
        record["trial"]["stack_settings"]["http_version"] = "h1"
        return json.dumps(record)

    assert "changed after it was written" in damage(tmp_path, change)


def test_documents_come_back(tmp_path):
    write_document(tmp_path / "new", "environment.json", {"kernel": "6.1"})
    assert read_document(tmp_path / "new", "environment.json") == {"kernel": "6.1"}
    with pytest.raises(StoreError, match=r"plan\.json: there is no such file"):
        read_document(tmp_path, "plan.json")
