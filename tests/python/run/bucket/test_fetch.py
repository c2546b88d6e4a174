"""What comes from a bucket is a run, whole, or is refused in one line with nothing half left."""

import io
import json
import zipfile

import pytest
from copied_runs import URL, Run, copy_all, tree
from faulty_bucket import FaultyBucket

from eyelevel.analysis.study import read_results
from eyelevel.base.errors import ExpectedError, StoreError
from eyelevel.plan.plan_json import parse_plan_document
from eyelevel.plan.trials import Site
from eyelevel.run.bucket.fetch import fetch_run
from eyelevel.run.study.prepare import begin_study

BLOCK = "blocks/0000005.zip"


@pytest.fixture
def bucket(run):
    copy_all(run, bucket := FaultyBucket())
    return bucket


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def refused(bucket, out):
    """What is said, in one line that names the bucket; and none takes what is there for a run."""
    with pytest.raises(ExpectedError) as caught:
        fetch_run(bucket, URL, out)
    said = str(caught.value)
    assert "\n" not in said and URL in said
    assert not (out / "plan.json").exists()
    return said


def rezipped(content, change):
    with zipfile.ZipFile(io.BytesIO(content)) as pack:
        members = {name: pack.read(name) for name in pack.namelist()}
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as pack:
        for name, each in members.items():
            pack.writestr(name, each)
    return buffer.getvalue()


def drop_record(members):
    members.pop(next(name for name in members if name.endswith("record.json.gz")))


def drop_trial(members):
    first = next(iter(members)).partition("/")[0]
    for name in [name for name in members if name.startswith(first)]:
        members.pop(name)


def swap_records(members):
    first, second, *_ = [name for name in members if name.endswith("record.json.gz")]
    members[first], members[second] = members[second], members[first]


def go_astray(members):
    members["../astray"] = b""


def hide(members):
    members[next(iter(members)).partition("/")[0] + "/.hidden"] = b""


def spoil_frames(members):
    members[next(name for name in members if name.endswith("frames.npz"))] = b"PK"


DAMAGES = {
    "no ZIP": (lambda content: content[:-9], "no whole ZIP"),
    "a bit": (lambda content: content[:70] + b"\x07" + content[71:], "damaged"),
    "empty": (lambda content: b"", "no whole ZIP"),
    "no record": (lambda content: rezipped(content, drop_record), "has no record"),
    "a trial less": (lambda content: rezipped(content, drop_trial), "not those of this block"),
    "records swapped": (lambda content: rezipped(content, swap_records), "record of trial"),
    "astray": (lambda content: rezipped(content, go_astray), "not a file of a trial"),
    "hidden": (lambda content: rezipped(content, hide), "not a file of a trial"),
    "frames": (lambda content: rezipped(content, spoil_frames), "frames.npz"),
}


@pytest.mark.parametrize("which", DAMAGES)
def test_a_damaged_block_is_refused_and_mended_the_fetch_goes_on(run, bucket, out, which):
    whole = bucket.get(BLOCK, 10**9)
    damage, said = DAMAGES[which]
    bucket.replace(BLOCK, damage(whole))
    assert said in refused(bucket, out)
    assert {path.name for path in (out / "trials").iterdir()}.isdisjoint(run.blocks[5])
    bucket.replace(BLOCK, whole)
    fetch_run(bucket, URL, out)
    assert tree(out) == tree(run.directory)


def test_another_block_under_its_name_is_refused(bucket, out):
    bucket.replace(BLOCK, bucket.get("blocks/0000006.zip", 10**9))
    assert "not those of this block" in refused(bucket, out)


@pytest.mark.parametrize("name", ["plan.json", "environment.json", "machines/0123456789.json"])
@pytest.mark.parametrize("content", [b"", b"[]", b'{"version":1', b"\xff", b"[" * 10**5])
def test_a_damaged_document_is_refused(bucket, out, name, content):
    bucket.replace(name, content)
    assert name in refused(bucket, out)


def test_what_is_no_run_is_refused_and_nothing_is_made(out):
    assert "it has no plan.json" in refused(FaultyBucket(), out)
    assert not out.exists()


def test_a_picture_that_is_damaged_or_missing_is_named(run, bucket, out):
    name = next((run.directory / "pictures").iterdir()).name
    bucket.replace(f"pictures/{name}", b"RIFF")
    assert f"pictures/{name}: damaged" in refused(bucket, out)
    other = FaultyBucket()
    for each in [*bucket.tried, "machines/0123456789.json"]:
        if each != f"pictures/{name}":
            other.replace(each, bucket.get(each, 10**9))
    assert f"it needs pictures/{name}" in refused(other, out)


class Ended(BaseException):
    pass


def test_an_interrupted_fetch_leaves_whole_blocks_and_goes_on(run, bucket, out):
    def interrupt(done, total):
        assert total == 12
        if done == 4:
            raise Ended

    with pytest.raises(Ended):
        fetch_run(bucket, URL, out, interrupt)
    assert not (out / "plan.json").exists()
    there = {path.name for path in (out / "trials").iterdir()}
    assert [set(block) <= there for block in run.blocks] == [True] * 4 + [False] * 8
    with pytest.raises(ExpectedError):
        read_results(out)
    bucket.read.clear()
    assert fetch_run(bucket, URL, out).blocks == 12
    assert len([name for name in bucket.read if name.startswith("blocks/")]) == 8
    assert tree(out) == tree(run.directory)


def test_a_part_of_a_run_is_not_run_on_and_the_whole_is(run, bucket, out):
    plan = parse_plan_document(run.plan).plan
    sites = [Site(each["name"], each["digest"]) for each in run.plan["sites"]]
    fetch_run(bucket, URL, out)
    (out / "plan.json").rename(out / "aside")
    with pytest.raises(StoreError, match="a partly fetched run"):
        begin_study(plan, sites, out, resume=True)
    (out / "aside").rename(out / "plan.json")
    begin_study(plan, sites, out, resume=True)
    assert "holds a run that was not fetched" in str(fetching(bucket, out))


def test_a_fetched_run_that_goes_on_reads_no_block_back(run, bucket, out):
    fetch_run(bucket, URL, out)
    bucket.read.clear()
    bucket.tried.clear()
    copy_all(Run(out), bucket)
    assert not [name for name in bucket.read + bucket.tried if name.startswith("blocks/")]


def fetching(bucket, out):
    with pytest.raises(StoreError) as caught:
        fetch_run(bucket, URL, out)
    return caught.value


def test_what_has_come_meanwhile_is_fetched_later(run, bucket, out):
    early = FaultyBucket()
    for name in [*bucket.tried, "machines/0123456789.json"]:
        if name < BLOCK or not name.startswith("blocks/"):
            early.replace(name, bucket.get(name, 10**9))
    assert fetch_run(early, URL, out).blocks == 5
    assert fetch_run(bucket, URL, out).blocks == 12
    assert tree(out) == tree(run.directory)


def test_a_directory_of_anything_else_is_refused_and_left(run, bucket, out):
    out.mkdir()
    (out / "mine").write_text("x")
    assert "holds other files" in str(fetching(bucket, out))
    assert [path.name for path in out.iterdir()] == ["mine"]
    before = tree(run.directory)
    assert "was not fetched" in str(fetching(bucket, run.directory))
    assert tree(run.directory) == before


def test_a_directory_of_another_fetched_run_is_refused(bucket, out):
    fetch_run(bucket, URL, out)
    bucket.replace("environment.json", json.dumps({"machine": "other"}).encode())
    assert "holds another run" in str(fetching(bucket, out))


def test_what_lies_beside_a_run_in_its_bucket_is_left_there(run, bucket, out):
    for name in ("blocks/x.zip", "blocks/9999999.zip", "pictures/x", "machines/X.json", "x"):
        bucket.replace(name, b"x")
    fetch_run(bucket, URL, out)
    assert tree(out) == tree(run.directory)
