import json
import zipfile
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest
from synthetic_fleet import fleet_run, write_machine_document
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.base.errors import PlanError, StoreError
from eyelevel.run.bundle import bundle as bundle_inputs
from eyelevel.run.bundle.bundle import RunInputs, locks, write_bundle
from eyelevel.run.bundle.unpack import open_bundle
from eyelevel.sites.recorded import RecordedSite
from eyelevel.store.directory import PLAN_FILE, list_committed, read_document


@pytest.fixture
def run(tmp_path):
    directory = tmp_path / "run"
    write_run(directory)
    sites = {}
    for site in read_document(directory, PLAN_FILE)["sites"]:
        path = tmp_path / f"{site['name']}.wacz"
        path.write_bytes(site["name"].encode())
        sites[site["name"]] = RecordedSite(site["name"], path, site["digest"])
    return directory, RunInputs(sites, {})


def test_what_is_packed_is_there_again_with_its_plan(run, tmp_path):
    directory, inputs = run
    file = tmp_path / "run.zip"
    last_pictures = 2
    count = write_bundle(directory, inputs, file)
    assert count == 2 + 2 + 2 * 36 + last_pictures + len(locks())
    found = open_bundle(file, tmp_path / "unpacked")
    assert list_committed(found.run) == list_committed(directory)
    assert [Path(site).read_bytes() for site in found.plan.sites] == [b"startup", b"dashboard"]
    assert [stack.name for stack in found.plan.stacks] == ["tcp", "tcp+", "quic"]
    both = [read_results(each, metrics_of).gains for each in (directory, found.run)]
    assert both[0] == both[1]


def test_the_machines_of_a_run_come_with_it_and_their_loads_keep_their_class(tmp_path):
    directory = tmp_path / "fleet"
    fleet_run(directory, ["a", "b", "c"], blocks=2)
    write_machine_document(directory, "c", **{"class": 2}, reason="its kernel is another")
    before = read_results(directory, metrics_of)
    sites = {}
    for site in read_document(directory, PLAN_FILE)["sites"]:
        path = tmp_path / f"{site['name']}.wacz"
        path.write_bytes(site["name"].encode())
        sites[site["name"]] = RecordedSite(site["name"], path, site["digest"])
    write_bundle(directory, RunInputs(sites, {}), tmp_path / "run.zip")
    found = read_results(open_bundle(tmp_path / "run.zip", tmp_path / "there").run, metrics_of)
    assert [row.machine_class for row in found.machines] == ["1", "1", "2"]
    assert found.machines == before.machines and found.gains == before.gains


def test_the_same_run_makes_the_same_bundle(run, tmp_path):
    for name in ("a.zip", "b.zip"):
        write_bundle(*run, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_another_recording_of_that_name_is_refused(run, tmp_path):
    directory, inputs = run
    other = {name: replace(site, digest="sha256:other") for name, site in inputs.sites.items()}
    with pytest.raises(StoreError, match="name its file with --site"):
        write_bundle(directory, RunInputs(other, {}), tmp_path / "run.zip")


def test_unpacking_that_was_interrupted_goes_on_and_mixes_no_studies(run, tmp_path):
    file, there = tmp_path / "run.zip", tmp_path / "unpacked"
    write_bundle(*run, file)
    open_bundle(file, there)
    lost = there / "run" / "report.html"
    plan = there / "run" / PLAN_FILE
    kept_ns = plan.stat().st_mtime_ns
    lost.unlink(missing_ok=True)
    (there / "sites" / "startup.wacz").write_bytes(b"half of it")
    with pytest.raises(StoreError, match="continue with --resume"):
        open_bundle(file, there)
    found = open_bundle(file, there, resume=True)
    assert [Path(site).read_bytes() for site in found.plan.sites] == [b"startup", b"dashboard"]
    assert plan.stat().st_mtime_ns == kept_ns
    plan.write_text("{}", encoding="utf-8")
    with pytest.raises(StoreError, match="holds another study"):
        open_bundle(file, there, resume=True)
    assert plan.read_text(encoding="utf-8") == "{}"


def test_locks_say_what_the_versions_of_everything_are(run, tmp_path):
    write_bundle(*run, tmp_path / "run.zip")
    open_bundle(tmp_path / "run.zip", tmp_path / "unpacked")
    folder = tmp_path / "unpacked/locks"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == locks()
    assert f"polars=={version('polars')}\n" in (folder / "installed.txt").read_text()
    assert 'name = "eyelevel-lab"' in (folder / "Cargo.lock").read_text()
    assert "polars==" in (folder / "requirements.lock").read_text()


def test_locks_of_a_tree_that_is_not_ours_are_not_taken(tmp_path, monkeypatch):
    (tmp_path / "Cargo.lock").write_text("somebody else's")
    monkeypatch.setattr(bundle_inputs, "_SOURCE_TREE", tmp_path)
    assert set(locks()) == {"installed.txt"}


def test_a_bundle_without_a_recording_of_its_plan_is_refused(run, tmp_path):
    def without(content):
        manifest = json.loads(content["bundle.json"])
        del manifest["files"]["sites/startup.wacz"]
        content["bundle.json"] = json.dumps(manifest).encode()

    write_bundle(*run, tmp_path / "run.zip")
    repacked(tmp_path / "run.zip", without)
    with pytest.raises(StoreError, match="lacks the recording of `startup`"):
        open_bundle(tmp_path / "run.zip", tmp_path / "unpacked")


def repacked(file, change):
    with zipfile.ZipFile(file) as pack:
        content = {name: pack.read(name) for name in pack.namelist()}
    change(content)
    with zipfile.ZipFile(file, "w") as pack:
        for name, value in content.items():
            pack.writestr(name, value)


def outside(content):
    manifest = json.loads(content["bundle.json"])
    manifest["files"]["run/../../x"] = "0" * 64
    content["bundle.json"] = json.dumps(manifest).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update({"run/plan.json": b"{}"}), "is damaged"),
        (lambda content: content.pop("run/plan.json"), "it lacks `run/plan.json`"),
        (lambda content: content.update({"bundle.json": b'{"version": 9}'}), "version 9"),
        (outside, "outside"),
    ],
)
def test_a_bundle_that_was_changed_is_refused(run, tmp_path, change, message):
    write_bundle(*run, tmp_path / "run.zip")
    repacked(tmp_path / "run.zip", change)
    with pytest.raises(StoreError, match=message):
        open_bundle(tmp_path / "run.zip", tmp_path / "unpacked")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "manifest",
    [b"{", b"\xff\xfe{", b"[1]", b"3", b"[" * 100_000, b"{}", b'{"version": 1}']
    + [b'{"version": 1, "files": ' + files + b"}" for files in (b"null", b'["a"]', b'{"": "x"}')],
)
def test_a_bundle_whose_list_of_files_is_none_is_refused(tmp_path, manifest):
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as pack:
        pack.writestr("bundle.json", manifest)
    with pytest.raises(StoreError, match=r"run\.zip"):
        open_bundle(tmp_path / "run.zip", tmp_path / "unpacked")


@pytest.mark.parametrize("content", [{}, {"sites": None}, {"sites": [{}]}, {"version": 1}])
def test_a_bundle_of_a_plan_that_this_eyelevel_has_not_written_is_refused(run, tmp_path, content):
    write_bundle(*run, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as pack:
        members = {name: pack.read(name) for name in pack.namelist()}
    members["run/plan.json"] = json.dumps(content).encode()
    manifest = json.loads(members["bundle.json"])
    manifest["files"]["run/plan.json"] = sha256(members["run/plan.json"]).hexdigest()
    members["bundle.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as pack:
        for name, member in members.items():
            pack.writestr(name, member)
    with pytest.raises(PlanError, match="use the eyelevel that wrote it"):
        open_bundle(tmp_path / "other.zip", tmp_path / "unpacked")
