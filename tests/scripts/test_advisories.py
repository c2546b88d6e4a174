"""Known weaknesses are found by version, as the OSV format has them."""

import json

import pytest
from repository import ROOT

from scripts.checks import advisories

PINS = {("crates.io", "noq"): {"1.4.0"}, ("PyPI", "ruamel-yaml"): {"0.18.1"}}


def advisory(ecosystem="crates.io", name="noq", **affected):
    package = {"ecosystem": ecosystem, "name": name}
    return {"id": "X-1", "summary": "it breaks", "affected": [{"package": package, **affected}]}


def between(*events, kind="SEMVER"):
    return [{"type": kind, "events": [dict([event]) for event in events]}]


@pytest.mark.parametrize(
    ("events", "is_found"),
    [
        ([("introduced", "0")], True),
        ([("introduced", "0.0.0-0"), ("fixed", "1.4.0")], False),
        ([("introduced", "0"), ("fixed", "1.4.1")], True),
        ([("introduced", "1.4.1")], False),
        ([("introduced", "0"), ("last_affected", "1.4.0")], True),
        ([("introduced", "0"), ("last_affected", "1.3.9")], False),
        # Two ranges in one, in no order.
        ([("introduced", "1.4.0"), ("fixed", "1.2.0"), ("introduced", "0")], True),
    ],
)
def test_ranges_are_evaluated_as_the_format_says(events, is_found):
    found = advisories.faults([advisory(ranges=between(*events))], PINS)
    assert found == (["noq 1.4.0: X-1: it breaks"] if is_found else [])


# From RustSec's database: nix (RUSTSEC-2021-0119) and others whose ranges begin at `X.Y.Z-0`.
NIX = [
    ("introduced", "0.16.0"), ("fixed", "0.20.2"),
    ("introduced", "0.21.0-0"), ("fixed", "0.21.2"),
    ("introduced", "0.22.0-0"), ("fixed", "0.22.2"),
    ("introduced", "0.23.0-0"), ("fixed", "0.23.0"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "is_found"),
    [
        ("0.31.3", False),
        ("0.23.0", False),
        ("0.23.0-rc.1", True),
        ("0.22.2", False),
        ("0.22.0", True),
        ("0.22.0-0", True),
        ("0.21.1+build.7", True),
        ("0.20.2", False),
        ("0.15.9", False),
    ],
)
@pytest.mark.parametrize("kind", ["SEMVER", "ECOSYSTEM"])
def test_crates_are_ordered_by_semver(version, is_found, kind):
    said = advisory(name="nix", ranges=between(*NIX, kind=kind))
    found = advisories.faults([said], {("crates.io", "nix"): {version}})
    assert found == ([f"nix {version}: X-1: it breaks"] if is_found else [])


def test_packages_are_ordered_by_pep_440():
    """Where `1.0-0` is the first post release of 1.0, and `1.0rc1` comes before it."""
    ranges = between(("introduced", "0"), ("fixed", "1.0"), kind="ECOSYSTEM")
    pins = {("PyPI", "noq"): {"1.0rc1", "1.0-0", "1.0.post1"}}
    said = advisory("PyPI", ranges=ranges)
    assert advisories.faults([said], pins) == ["noq 1.0rc1: X-1: it breaks"]


RISING = [
    "0.9.10", "1.0.0-0", "1.0.0-2", "1.0.0-11", "1.0.0--", "1.0.0-11a", "1.0.0-alpha",
    "1.0.0-alpha.1", "1.0.0-alpha.1.0", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
    "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1-0", "1.0.1", "1.0.10", "1.2.0", "10.0.0",
]  # fmt: skip


def test_semver_orders_each_pair_as_clause_11_says():
    for low, version in enumerate(RISING):
        for high, bound in enumerate(RISING):
            said = advisory(ranges=between(("introduced", bound)))
            found = advisories.faults([said], {("crates.io", "noq"): {version}})
            assert bool(found) == (low >= high), (version, bound)


def test_a_bound_that_is_no_version_is_named_and_not_guessed(tmp_path, capsys):
    (version,) = advisories.pinned(ROOT)["crates.io", "noq"]
    said = advisory(ranges=between(("introduced", "0"), ("fixed", "one.two")))
    (tmp_path / "X-1.json").write_text(json.dumps(said), encoding="utf-8")
    assert advisories.main(ROOT, [tmp_path]) == 1
    assert capsys.readouterr().out == "X-1: noq: 'one.two' is no semantic version\n", version


def test_versions_that_are_listed_count_and_names_are_normal():
    said = advisory("PyPI", "ruamel.yaml", versions=["0.18.1"])
    assert advisories.faults([said], PINS) == ["ruamel-yaml 0.18.1: X-1: it breaks"]
    assert advisories.faults([advisory("npm", versions=["1.4.0"])], PINS) == []


def test_what_was_withdrawn_or_is_ignored_with_its_reason_is_left_out(monkeypatch):
    said = advisory(versions=["1.4.0"])
    assert advisories.faults([said | {"withdrawn": "2026-01-01T00:00:00Z"}], PINS) == []
    monkeypatch.setitem(advisories.IGNORED, "X-1", "the code is not reached")
    assert advisories.faults([said], PINS) == []


def test_a_database_is_looked_through_for_all_that_is_pinned(tmp_path, capsys):
    assert advisories.pinned(ROOT)["PyPI", "rich"]
    assert advisories.pinned(ROOT)["PyPI", "uv"], "what writes the lock files is looked up, too"
    (version,) = advisories.pinned(ROOT)["crates.io", "noq"]
    folder = tmp_path / "crates" / "noq"
    folder.mkdir(parents=True)
    (folder / "X-1.json").write_text(json.dumps(advisory(versions=[version])), encoding="utf-8")
    (folder / "X-2.yaml").write_text(
        "id: X-2\ndetails: numbers go wrong\naffected:\n- package: {ecosystem: PyPI, name: Rich}\n"
        "  ranges:\n  - {type: ECOSYSTEM, events: [{introduced: '0'}]}\n",
        encoding="utf-8",
    )
    assert advisories.main(ROOT, [tmp_path]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"noq {version}: X-1: it breaks"
    assert second.startswith("rich ") and second.endswith(": X-2: numbers go wrong")


def test_without_a_database_one_line_says_so(tmp_path, capsys):
    assert advisories.main(ROOT, []) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert advisories.main(ROOT, [tmp_path]) == 1, "an empty folder is a mistake"
    assert "no advisory" in capsys.readouterr().out
