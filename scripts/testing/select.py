"""Turns the path of a file, test or crate into the command that runs it."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")


def cargo(*words: str) -> list[str]:
    """Return a command of cargo that runs tests in the release profile, our own crates lightly
    optimised.

    So tests share the dependencies that the build has compiled, and our crates, which are compiled
    once more for their tests, take half of the time.
    """
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    light = [
        f"--config=profile.release.package.eyelevel-{Path(member).name}.opt-level=1"
        for member in workspace["members"]
    ]
    return ["cargo", *words, "--release", "--locked", *light]


def nextest(*arguments: str) -> list[str]:
    """Return a command of cargo-nextest that runs tests of the workspace."""
    return [*cargo("nextest", "run"), *arguments]


def command_of(selection: str) -> list[str]:
    """Return the command that runs one file, test, folder or crate.

    `selection` is `PATH[::NAME]`, where PATH is relative to the repository. Raises ValueError with
    the remedy if there is nothing to run at PATH.
    """
    path, _, name = selection.partition("::")
    place = ROOT / path
    if not place.exists():
        raise ValueError(
            f"no file or folder {path}: give its path from {ROOT.name}/, as git lists it"
        )
    parts = place.resolve().relative_to(ROOT).parts
    if parts[:1] == ("crates",) and len(parts) > 1:
        return nextest("--no-tests=fail", *_crate_arguments(parts, name))
    if parts[:1] == ("tests",):
        return [*PYTEST, selection]
    raise ValueError(f"no tests in {path}: tests are in tests/ and in crates/NAME")


def _crate_arguments(parts: tuple[str, ...], name: str) -> list[str]:
    """Return nextest's arguments for a crate, or for a source file or test file of it."""
    arguments = [f"--package=eyelevel-{parts[1]}"]
    inner = parts[2:]
    modules: list[str] = []
    if inner[:1] == ("tests",) and len(inner) > 1:
        arguments.append(f"--test={inner[1].removesuffix('.rs')}")
        modules = list(inner[2:])
    elif inner[:1] == ("src",):
        modules = list(inner[1:])
    modules = [part.removesuffix(".rs") for part in modules]
    modules = [part for part in modules if part not in ("mod", "lib", "main")]
    wanted = "::".join([*modules, *([name] if name else [])])
    if wanted:
        # Tests of `queue/red.rs` are in `queue::red` or below it, named whole or by their start.
        arguments.append(f"--filterset=test(/^{re.escape(wanted)}/)")
    return arguments
