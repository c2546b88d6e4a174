"""A dependency that no source names is found, by the name that code knows it by."""

import pytest
from repository import ROOT

from scripts.checks.unused_crates import main, unused


def faults(folder, source, kind=None, test="", **more):
    for name, text in {"src/lib.rs": source, "tests/all.rs": test}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    package = {
        "name": "upper",
        "manifest_path": str(folder / "Cargo.toml"),
        "metadata": more.get("metadata"),
        "dependencies": [{"name": "rustls-webpki", "kind": kind, "rename": more.get("rename")}],
    }
    return unused(package, {"rustls-webpki": "webpki"})


def test_the_workspace_uses_what_it_declares(capsys):
    assert main(ROOT) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "source",
    [
        "use webpki::Name;",
        "use webpki;",
        "use {std::fmt, webpki::Name};",
        "extern crate webpki;",
        "fn f() { webpki::verify() }",
        "fn f() { ::webpki::verify() }",
    ],
)
def test_what_a_source_names_is_used(tmp_path, source):
    assert faults(tmp_path, source) == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "// use webpki::Name;",
        'const TEXT: &str = "webpki::Name";',
        "fn f(webpki: u8) -> u8 { webpki }",
        "use crate::webpki::Name;",
        "use rustls_webpki::Name;",
    ],
)
def test_what_none_names_is_not(tmp_path, source):
    assert faults(tmp_path, source) == ["upper: nothing uses rustls-webpki"]


def test_what_tests_alone_name_is_a_dependency_of_tests(tmp_path):
    inside = "#[cfg(test)]\nmod tests {\n    use webpki::Name;\n}"
    for source, test in ((inside, ""), ("", "use webpki::Name;")):
        assert faults(tmp_path, source, test=test) == [
            "upper: nothing but tests uses rustls-webpki"
        ]
        assert faults(tmp_path, source, "dev", test) == []


def test_a_dependency_has_another_name_or_a_reason(tmp_path):
    assert faults(tmp_path, "use pki::Name;", rename="pki") == []
    reason = {"used": {"rustls-webpki": "for its features"}}
    assert faults(tmp_path, "", metadata=reason) == []
