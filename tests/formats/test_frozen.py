"""Golden files of a tagged version never change; before the first tag nothing is frozen."""

import subprocess
from pathlib import Path

import pytest
from repository import ROOT

GOLDEN = "vectors/golden"
NOT_FROZEN = f"{GOLDEN}/README.md"
REMEDY = "keep the tagged file and give the changed format a new version: docs/reference/frozen.md"


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def list_released_tags(repository: Path) -> list[str]:
    """Return the tags of released versions; none where the tree has no history of its own."""
    if not (repository / ".git").exists():
        return []
    return git(repository, "tag", "--list", "v[0-9]*").split()


def find_changed_files(repository: Path, tag: str) -> list[str]:
    """Return the golden files of `tag` that the working tree lacks or has with other bytes."""
    changed = git(
        repository, "diff", "--name-only", "--no-renames", "--diff-filter=a", tag, "--", GOLDEN
    )
    return [name for name in changed.splitlines() if name != NOT_FROZEN]


def test_no_golden_file_of_a_tagged_version_has_changed():
    for tag in list_released_tags(ROOT):
        assert find_changed_files(ROOT, tag) == [], f"{tag}: {REMEDY}"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two golden files and no tag."""
    (tmp_path / GOLDEN / "run").mkdir(parents=True)
    for name in (NOT_FROZEN, f"{GOLDEN}/path.log", f"{GOLDEN}/run/plan.json"):
        (tmp_path / name).write_text("version 1\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def commit(repository: Path) -> None:
    identity = ("-c", "user.name=tests", "-c", "user.email=tests@example.org")
    git(repository, "add", "--all")
    git(repository, *identity, "commit", "--quiet", "--no-gpg-sign", "--message", "change")


def test_nothing_is_frozen_before_the_first_release(repository: Path):
    git(repository, "tag", "before-release")
    assert list_released_tags(repository) == []


@pytest.mark.parametrize("committed", [False, True])
def test_a_changed_a_renamed_and_a_removed_file_are_found(repository: Path, committed: bool):
    git(repository, "tag", "v0.1.0")
    (repository / GOLDEN / "path.log").write_text("version 2\n")
    (repository / GOLDEN / "run" / "plan.json").rename(repository / GOLDEN / "plan.json")
    (repository / NOT_FROZEN).write_text("another sentence\n")
    if committed:
        commit(repository)
    (tag,) = list_released_tags(repository)
    assert find_changed_files(repository, tag) == [
        f"{GOLDEN}/path.log",
        f"{GOLDEN}/run/plan.json",
    ]


def test_files_of_a_new_version_may_join(repository: Path):
    git(repository, "tag", "v0.1.0")
    (repository / GOLDEN / "2").mkdir()
    (repository / GOLDEN / "2" / "path.log").write_text("version 2\n")
    commit(repository)
    assert find_changed_files(repository, "v0.1.0") == []
