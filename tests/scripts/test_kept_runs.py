"""Runs of replications that are kept in the repository."""

from pathlib import Path

from synthetic_run import TWO_STACKS, write_run

from eyelevel.store.directory import list_committed
from scripts.docs.kept_runs import keep_runs, restore_runs


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder, by path."""
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def test_a_kept_run_is_put_back_to_the_byte(tmp_path: Path) -> None:
    text, kept, back = (tmp_path / name for name in ("text", "kept", "back"))
    run = text / "x-dsl"
    run.mkdir(parents=True)
    write_run(run, text=TWO_STACKS)
    (text / "handshakes.jsonl").write_text("{}\n", encoding="utf-8")
    (text / "interrupted").mkdir()  # before its first load
    (text / "interrupted" / "plan.json").write_text("{}", encoding="utf-8")
    before = read_files(text)
    keep_runs(text, kept)
    assert sorted(each.name for each in kept.iterdir()) == ["handshakes.jsonl", "x-dsl.tar.xz"]

    restore_runs(kept, back)

    assert read_files(back) == {
        name: content for name, content in before.items() if "interrupted" not in name
    }


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


def test_runs_that_are_kept_no_more_leave_the_folder(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "old-lte.tar.xz").write_bytes(b"")
    keep_runs(tmp_path / "text", kept)
    assert not list(kept.iterdir())
