"""A run that is copied as it goes, and the command: its report is the same from either."""

import json
import shutil
from types import SimpleNamespace

import pytest
from copied_runs import Run, copies, tree
from fault_runs import stub_result
from faulty_bucket import FaultyBucket
from synthetic_run import environment, write_run

from eyelevel.cli import main
from eyelevel.cli.run import run as command
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site
from eyelevel.run.block import attempts
from eyelevel.run.bucket import copies as copies_module
from eyelevel.run.bucket import objects
from eyelevel.run.bucket.fetch import fetch_run
from eyelevel.run.study.loop import RunResult, run_trials
from eyelevel.run.study.prepare import begin_study
from eyelevel.sites.recorded import RecordedSite
from eyelevel.store.directory import ENVIRONMENT_FILE, write_document

PLAN = """sites = ["a", "b"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""


def test_between_two_loads_all_whole_blocks_are_in_the_bucket(tmp_path, monkeypatch):
    bucket, seen, directory = FaultyBucket(), [], tmp_path / "run"

    def load(trial, *_, **__):
        seen.append((trial.position, len(list(bucket.names("blocks")))))
        return stub_result(trial)

    monkeypatch.setattr(attempts, "run_trial", load)
    sites = [Site(name, f"sha256:{name * 64}") for name in "ab"]
    trials = begin_study(parse_plan(PLAN, "plan.toml"), sites, directory, resume=False)
    write_document(directory, ENVIRONMENT_FILE, environment())
    copying = copies(Run(directory), bucket)
    copying.begin()
    archives = {site.name: "site.wacz" for site in sites}
    run_trials(trials, archives, directory, lambda _: None, on_committed=copying.committed)
    copying.finish()
    copying.close()
    assert seen == [(position, block) for block in range(4) for position in (1, 2)]
    fetch_run(bucket, "s3://bucket/run", tmp_path / "fetched")
    assert tree(tmp_path / "fetched") == tree(directory)


@pytest.fixture
def called(tmp_path, monkeypatch, capsys):
    """The command with a run whose loads are all there; its status and what it printed."""
    directory = tmp_path / "run"
    plan = write_run(directory)
    sites = [RecordedSite(name, tmp_path, "") for name in plan.sites]
    records = json.loads((directory / "plan.json").read_bytes())["trials"]
    trials = [SimpleNamespace(**each) for each in records]
    for name, stand_in in (
        ("read_plan", lambda *_, **__: plan),
        ("open_pages", lambda _: sites),
        ("prepare", lambda *_, **__: trials),
        ("run_trials", lambda *_, **__: RunResult(directory, 36, 36, interrupted=False)),
        ("make_report", lambda out: SimpleNamespace(path=out / "report.html")),
        ("print_summary", lambda _: None),
    ):
        monkeypatch.setattr(command, name, stand_in)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["eyelevel", *map(str, words)])
        status = main.main()
        return status, *capsys.readouterr()

    return SimpleNamespace(call=call, directory=directory, bucket=f"file://{tmp_path}/bucket")


def test_the_report_of_a_run_whose_directory_is_gone_is_the_same_byte_for_byte(called):
    out, url = called.directory, called.bucket
    assert called.call("run", "plan.toml", "--out", out, "--copy-to", url)[0] == 0
    status, before, _ = called.call("report", out, "--json")
    shutil.rmtree(out)
    fetched, said, _ = called.call("fetch", url, out)
    assert (status, fetched) == (0, 0) and "all 12 blocks" in said
    assert called.call("report", out, "--json")[1] == before and len(before) > 1000


def test_a_bucket_that_is_gone_at_the_end_is_75_with_the_line_that_resumes(called, monkeypatch):
    bucket = FaultyBucket(lambda name: "network" if "/" in name else "")
    monkeypatch.setattr(objects, "open_objects", lambda url, is_new: bucket)
    monkeypatch.setattr(copies_module, "END_S_MAX", 0.0)
    words = ("run", "plan.toml", "--out", called.directory, "--copy-to", called.bucket)
    status, _, said = called.call(*words)
    assert status == main.EXIT_LATER
    assert "12 objects are not there yet" in " ".join(said.split())
    assert f"plan.toml --out {called.directory} --resume --copy-to {called.bucket}" in said


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://x/y", "write it as s3://"),
        ("bucket", "write it as s3://"),
        ("s3://", "Unable to recognise"),
    ],
)
def test_what_is_no_buckets_url_is_refused_in_one_line(called, url, said):
    for words in (("run", "plan.toml", "--out", called.directory, "--copy-to", url),
                  ("fetch", url, called.directory / "new")):  # fmt: skip
        status, _, complaint = called.call(*words)
        assert status == 2 and said in complaint and len(complaint.splitlines()) == 1
    assert not (called.directory / "new").exists()


def test_without_obstore_the_extra_is_named(called, monkeypatch):
    monkeypatch.setattr(objects, "find_spec", lambda name: None)
    status, _, said = called.call("fetch", called.bucket, called.directory / "new")
    assert status == 2 and "pip install 'eyelevel[bucket]'" in said


def test_a_folder_that_is_not_there_is_not_made_by_who_fetches(called, tmp_path):
    status, _, said = called.call("fetch", f"file://{tmp_path}/none", tmp_path / "new")
    assert status == 2 and "there is no such folder" in said
    assert not (tmp_path / "none").exists() and not (tmp_path / "new").exists()
