"""The notices have every crate of the binary with its text, and are of what is pinned."""

import pytest
from repository import ROOT

from scripts.shipping import notices, sbom


@pytest.fixture(scope="module")
def written():
    return (ROOT / notices.FILE).read_text(encoding="utf-8")


def test_every_crate_of_others_is_listed_and_nearly_each_has_its_text(written):
    others = [each for each in sbom.built_into(ROOT, sbom.PLATFORM) if each["source"]]
    lines = written.splitlines()
    for each in others:
        start = f"{each['name']} {each['version']}: {each['license']}"
        (line,) = (line for line in lines if line.startswith(start))
        named = [it for it in lines if f"{each['name']} {each['version']}" in it.split(", ")]
        assert named or "no text came with it" in line
    assert (
        written.count("no text came with it") <= 4
    )  # one is selectors, whose licence came with cssparser


def test_the_file_is_of_the_pinned_crates(written, tmp_path, monkeypatch, capsys):
    assert notices.main(ROOT, is_check=True) == 0
    monkeypatch.setattr(notices, "notices", lambda root: written + "more")
    assert notices.main(ROOT, is_check=True) == 1
    assert notices.FILE in capsys.readouterr().out


def test_of_a_choice_the_shorter_text_is_taken_and_of_both_both(tmp_path):
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "NOTICE", "README.md"):
        (tmp_path / name).write_text(f"{name}  \n\n", encoding="utf-8")
    assert notices.texts_of(tmp_path, "MIT OR Apache-2.0") == ["LICENSE-MIT", "NOTICE"]
    both = notices.texts_of(tmp_path, "MIT AND Apache-2.0")
    assert both == ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"]
