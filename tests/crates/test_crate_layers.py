"""The layers of the Rust half hold, and what breaks them is found."""

import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

WORKSPACE = """
[workspace]
resolver = "3"
members = ["upper", "lower"]

[workspace.metadata.layers]
upper = [{allowed}]
lower = []
"""
CRATE = """
[package]
name = "eyelevel-{name}"
version = "0.1.0"
edition = "2024"

[dependencies]
{dependencies}
"""
LOWER = '\neyelevel-lower = { path = "../lower" }'


def faults(folder: Path) -> list[str]:
    command = [sys.executable, "-m", "scripts.checks.crate_layers", folder]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not answer.stderr
    assert answer.returncode == bool(answer.stdout)
    return answer.stdout.splitlines()


def workspace(folder: Path, files: dict[str, str], allowed: str = "", uses: str = "") -> Path:
    """Two crates; `files` are those of the upper one."""
    written = {
        "Cargo.toml": WORKSPACE.format(allowed=allowed),
        "upper/Cargo.toml": CRATE.format(name="upper", dependencies=uses),
        "lower/Cargo.toml": CRATE.format(name="lower", dependencies=""),
        "lower/src/lib.rs": "",
        **{f"upper/src/{name}": text for name, text in files.items()},
    }
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_workspace_keeps_to_its_layers() -> None:
    assert faults(ROOT) == []


def test_a_crate_uses_what_the_contract_says(tmp_path: Path) -> None:
    files = {"lib.rs": ""}
    uses_more = workspace(tmp_path / "more", files, uses=LOWER)
    assert faults(uses_more) == ["upper: uses lower, which its layer may not"]
    uses_less = workspace(tmp_path / "less", files, allowed='"lower"')
    assert faults(uses_less) == ["upper: may use lower, and does not"]
    assert faults(workspace(tmp_path / "same", files, '"lower"', LOWER)) == []
    tests_alone = LOWER.replace("\n", "\n[dev-dependencies]\n")
    assert faults(workspace(tmp_path / "tests", files, uses=tests_alone)) == []


LIB = "mod a;\nmod b;\npub use b::B;\n"
IN_A_CIRCLE = [
    pytest.param("use crate::b::B;", "use crate::a::A;", id="use"),
    pytest.param("use super::b::{B as C, self};", "use super::a::A;", id="super"),
    pytest.param("use crate::B;", "use crate::a::A;", id="passed on by the root"),
    pytest.param("fn f() { crate::b::g() }", "use crate::a::A;", id="a path in an expression"),
    pytest.param("use crate::b;\nfn f() { b::g() }", "use crate::a::*;", id="everything"),
]
IN_NO_CIRCLE = [
    pytest.param("use crate::b::B;", "// use crate::a::A;", id="comment"),
    pytest.param("use crate::b::B;", 'const TEXT: &str = "crate::a::A";', id="text"),
    pytest.param("use crate::b::B;", "pub use crate::a::A;", id="passed on only"),
    pytest.param(
        "use crate::b::B;", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}", id="tests"
    ),
    pytest.param("use std::b::B;", "use crate::a::A;", id="another crate"),
]


@pytest.mark.parametrize(("a", "b"), IN_A_CIRCLE)
def test_files_that_use_each_other_are_found(tmp_path: Path, a: str, b: str) -> None:
    (fault,) = faults(workspace(tmp_path, {"lib.rs": LIB, "a.rs": a, "b.rs": b}))
    assert fault in (
        "eyelevel-upper: files in a circle: a -> b -> a",
        "eyelevel-upper: files in a circle: b -> a -> b",
    )


@pytest.mark.parametrize(("a", "b"), IN_NO_CIRCLE)
def test_files_in_order_are_not(tmp_path: Path, a: str, b: str) -> None:
    assert faults(workspace(tmp_path, {"lib.rs": LIB, "a.rs": a, "b.rs": b})) == []


def test_a_folder_counts_as_one_module(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod one;\nmod two;\n",
        "one/mod.rs": "mod part;\nuse part::Part;\n",
        "one/part.rs": "use super::Whole;\nuse crate::two::Two;\n",
        "two.rs": "use crate::one::Whole;\n",
    }
    (fault,) = faults(workspace(tmp_path / "apart", files))
    assert "one" in fault
    assert "two" in fault
    # A module and its parts may use each other.
    files["two.rs"] = ""
    assert faults(workspace(tmp_path / "together", files)) == []
