"""Runs of replications that are kept in the repository."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from synthetic_run import TWO_STACKS, write_run

from eyelevel.base.errors import StoreError
from eyelevel.store.directory import list_committed
from scripts.docs import kept_runs
from scripts.docs.kept_runs import keep_runs, restore_runs


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder, by path."""
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def test_a_kept_run_is_restored_to_the_byte_and_kept_alike(tmp_path: Path) -> None:
    text, kept, back = (tmp_path / name for name in ("text", "kept", "back"))
    run = text / "x-dsl"
    run.mkdir(parents=True)
    write_run(run, text=TWO_STACKS)
    (text / "handshakes.jsonl").write_text("{}\n", encoding="utf-8")
    before = read_files(text)
    (text / "x-lte").mkdir()  # interrupted before its first load
    (text / "x-lte" / "plan.json").write_text("{}", encoding="utf-8")
    shutil.copytree(run, text / ".x-3g")  # interrupted while it was restored
    keep_runs(text, kept)
    assert sorted(each.name for each in kept.iterdir()) == ["handshakes.jsonl", "x-dsl.tar.xz"]

    restore_runs(kept, back)

    assert read_files(back) == before
    keep_runs(back, tmp_path / "again")
    assert read_files(tmp_path / "again") == read_files(kept)


def test_a_run_that_is_there_is_not_replaced_by_the_kept_one(tmp_path: Path) -> None:
    text, kept = tmp_path / "text", tmp_path / "kept"
    run = text / "x-dsl"
    run.mkdir(parents=True)
    write_run(run, text=TWO_STACKS)
    keep_runs(text, kept)
    first = sorted(list_committed(run))[0]
    (run / "trials" / first / "record.json.gz").write_bytes(b"later")

    restore_runs(kept, text)

    assert (run / "trials" / first / "record.json.gz").read_bytes() == b"later"


def test_an_interrupted_call_leaves_the_earlier_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, kept = tmp_path / "text", tmp_path / "kept"
    (text / "x-dsl").mkdir(parents=True)
    write_run(text / "x-dsl", text=TWO_STACKS)
    keep_runs(text, kept)
    before = read_files(kept)

    def interrupt(run: Path, file: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kept_runs, "pack_run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        keep_runs(text, kept)
    assert read_files(kept) == before

    monkeypatch.undo()
    keep_runs(text, kept)
    assert read_files(kept) == before and list(kept.parent.iterdir()) == [text, kept]


@pytest.mark.parametrize("damage", [lambda content: content[:-40], lambda _: b"no archive"])
def test_a_damaged_archive_is_named_and_restores_nothing(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    text, kept = tmp_path / "text", tmp_path / "kept"
    (text / "x-dsl").mkdir(parents=True)
    write_run(text / "x-dsl", text=TWO_STACKS)
    keep_runs(text, kept)
    file = kept / "x-dsl.tar.xz"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(StoreError, match=f"restoring {file}: it is damaged .*`git restore`"):
        restore_runs(kept, tmp_path / "back")
    assert not (tmp_path / "back" / "x-dsl").exists()


def test_runs_that_are_kept_no_more_leave_the_folder(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "old-lte.tar.xz").write_bytes(b"")
    keep_runs(tmp_path / "text", kept)
    assert not list(kept.iterdir())
