"""Formats are frozen: a golden file changes never, and a new one comes with a new version."""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from repository import ROOT

from eyelevel.plan.trials import PLAN_DOCUMENT_VERSION
from eyelevel.run.bundle.members import BUNDLE_VERSION
from eyelevel.store.schema import RECORD_VERSION

GOLDEN = ROOT / "vectors" / "golden"
TABLE = "vectors/frozen.json"
WAY_OUT = "a format is frozen: docs/reference/frozen.md says what a change takes"
VERSIONS = {
    "bundle": BUNDLE_VERSION,
    "plan document": PLAN_DOCUMENT_VERSION,
    "record": RECORD_VERSION,
}


def frozen() -> dict[str, Any]:
    return json.loads((ROOT / TABLE).read_text(encoding="utf-8"))


def faults(
    entries: dict[str, Any], digests: dict[str, str], versions: dict[str, int]
) -> Iterator[str]:
    """What is wrong with a table, beside the files that are there and what the product writes."""
    listed: dict[str, str] = {}
    seen: list[dict[str, int]] = []
    for number, entry in entries.items():
        for name, digest in entry["files"].items():
            if digests.get(name) != digest:
                yield f"{name}, golden since {number}, is changed or gone"
            if name in listed:
                yield f"{name} is listed twice"
            listed[name] = digest
        if entry["versions"] in seen:
            yield f"{number} has new files and no new version"
        seen.append(entry["versions"])
    for name in sorted(digests.keys() - listed.keys()):
        yield f"{name} is in no entry"
    if not seen or seen[-1] != versions:
        yield f"the product writes {versions}, the newest golden files are of {seen[-1:]}"


def golden_digests() -> dict[str, str]:
    files = (path for path in GOLDEN.rglob("*") if path.is_file() and path.name != "README.md")
    return {
        path.relative_to(GOLDEN).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_the_golden_files_are_those_that_were_frozen():
    assert list(faults(frozen(), golden_digests(), VERSIONS)) == [], WAY_OUT


def earlier_tables() -> list[dict[str, Any]]:
    """The table of every commit that touched it, and none where there is no history."""

    def git(*arguments: str) -> str:
        command = ["git", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    commits = git("log", "--format=%H", "--", TABLE).split()
    return [json.loads(said) for it in commits if (said := git("show", f"{it}:{TABLE}"))]


def lost(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What a table said and no longer says. Another golden file may join those of its version."""
    return [
        f"{number}: {key} {name}"
        for number, entry in before.items()
        for key, values in entry.items()
        for name, value in values.items()
        if now.get(number, {}).get(key, {}).get(name) != value
    ]


def test_nothing_that_was_ever_frozen_is_another_now():
    for table in earlier_tables():
        assert lost(table, frozen()) == [], WAY_OUT


def test_a_table_that_was_rewritten_is_seen():
    before = {"0.1.0": {"versions": {"record": 1}, "files": {"a": "1"}}}
    joined = {"0.1.0": {"versions": {"record": 1}, "files": {"a": "1", "b": "2"}}, "0.2.0": {}}
    assert lost(before, joined) == []
    rewritten = {"0.1.0": {"versions": {"record": 2}, "files": {"a": "3"}}}
    assert lost(before, rewritten) == ["0.1.0: versions record", "0.1.0: files a"]
    assert len(lost(before, {})) == 2


ONE = {"versions": {"record": 1}, "files": {"a": "1"}}


@pytest.mark.parametrize(
    ("entries", "digests", "record", "fault"),
    [
        ({"0.1.0": ONE}, {"a": "2"}, 1, "changed or gone"),
        ({"0.1.0": ONE}, {}, 1, "changed or gone"),
        ({"0.1.0": ONE}, {"a": "1", "b": "1"}, 1, "b is in no entry"),
        ({"0.1.0": ONE}, {"a": "1"}, 2, "the product writes"),
        (
            {"0.1.0": ONE, "0.2.0": {"versions": {"record": 1}, "files": {"b": "2"}}},
            {"a": "1", "b": "2"},
            1,
            "no new version",
        ),
        ({}, {}, 1, "the product writes"),
    ],
)
def test_a_change_without_a_new_version_is_seen(entries, digests, record, fault):
    found = list(faults(entries, digests, {"record": record}))
    assert len(found) == 1 and fault in found[0]


def test_a_new_version_beside_the_old_one_is_fine():
    after = {"versions": {"record": 2}, "files": {"2/a": "2"}}
    digests = {"a": "1", "2/a": "2"}
    assert list(faults({"0.1.0": ONE, "0.2.0": after}, digests, {"record": 2})) == []
