"""Plants each mutation of tests/mutations.toml in a copy of the tree and runs its test.

    scripts/mutations [--sample] [NAME ...]

Prints one line per mutation and exits with 1 if a test stays green under its mutation, is red
without it, or the text to replace is gone. A mutation that turns no test red shows that nothing
would notice the fault. The copy is out/mutations; builds are kept there between runs.
"""

import argparse
import functools
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from scripts.testing.select import ROOT

TABLE = ROOT / "tests" / "mutations.toml"
COPY = ROOT / "out" / "mutations"
BINARY = Path("bin", "eyelevel-lab")
"""The data plane's place in an environment."""


def read_mutations() -> list[dict[str, Any]]:
    """Return the table's entries in its order."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutation"]


def _list_copied() -> set[str]:
    """Return the names of the files that an earlier run copied."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=COPY, capture_output=True, check=True, text=True
    )
    return set(filter(None, done.stdout.split("\0")))


def make_copy() -> None:
    """Bring the copy to the working tree's state, with an environment of its own beside it."""
    COPY.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    if not (COPY / ".git").exists():
        subprocess.run(["git", "init", "--quiet"], cwd=COPY, check=True)
    for name in sorted(_list_copied() - set(listed)):
        (COPY / name).unlink(missing_ok=True)
    for name in filter(None, listed):
        source, target = ROOT / name, COPY / name
        if not source.exists():
            continue
        # Only what differs is written, so that a build is not made anew for its times.
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    subprocess.run(["git", "add", "--all"], cwd=COPY, check=True)  # some tests list what git has
    environment = COPY / ".venv"
    if not environment.exists():
        shutil.copytree(Path(sys.prefix), environment, symlinks=True)
    # An earlier run, or an earlier state of the tree, may have left another build there.
    shutil.copy(Path(sys.prefix, BINARY), environment / BINARY)
    peers = Path("out", "peers")  # what scripts/test-peers installed: without it tests are skipped
    if (ROOT / peers).exists() and not (COPY / peers).exists():
        shutil.copytree(ROOT / peers, COPY / peers, symlinks=True)
    if not (COPY / "target").exists() and (ROOT / "target").exists():
        shutil.copytree(ROOT / "target", COPY / "target", symlinks=True)


def run_test(test: str) -> bool:
    """Run one test of the copy; return whether it ran and passed."""
    environment = {**os.environ, "PYTHONPATH": str(COPY / "python"), "EYELEVEL_TESTS": "full"}
    environment["PATH"] = f"{COPY / '.venv/bin'}{os.pathsep}{environment['PATH']}"
    command = [COPY / ".venv/bin/python", "-m", "scripts.testing.run", test]
    done = subprocess.run(
        command, cwd=COPY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False,
    )  # fmt: skip
    with COPY.with_suffix(".log").open("ab") as log:
        log.write(done.stdout)
    # One that was skipped shows nothing.
    return done.returncode == 0 and b" passed" in done.stdout


@functools.cache
def passes_unchanged(test: str) -> bool:
    """Return whether a test passes on the copy as it is; one run serves all its mutations."""
    return run_test(test)


def build_binary() -> None:
    """Build the copy's data plane into its environment."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--package=eyelevel-lab"]
    subprocess.run(command, cwd=COPY, check=True)
    shutil.copy(COPY / "target/release/eyelevel-lab", COPY / ".venv" / BINARY)


def try_mutation(mutation: dict[str, Any]) -> str:
    """Return why a mutation is not noticed as it should be; empty if its test turns red."""
    file = COPY / mutation["file"]
    text = file.read_text(encoding="utf-8")
    if text.count(mutation["find"]) != 1:
        return f"{mutation['file']} has {text.count(mutation['find'])} places to replace, not 1"
    if not passes_unchanged(mutation["test"]):
        return "its test is red or skipped without it (scripts/test-peers installs what some need)"
    file.write_text(text.replace(mutation["find"], mutation["replace"]), encoding="utf-8")
    try:
        if mutation.get("binary"):
            build_binary()
        return "its test stays green" if run_test(mutation["test"]) else ""
    finally:
        file.write_text(text, encoding="utf-8")


def main() -> int:
    """Try the mutations that the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="scripts/mutations", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("name", nargs="*", help="part of a mutation's name")
    parser.add_argument("--sample", action="store_true", help="those that `make test` notices")
    arguments = parser.parse_args()
    chosen = [
        mutation
        for mutation in read_mutations()
        if (not arguments.sample or mutation["in"] == "test")
        and (not arguments.name or any(part in mutation["name"] for part in arguments.name))
    ]
    if not chosen:
        parser.error(f"no mutation has {' or '.join(arguments.name)} in its name")
    make_copy()
    missed = 0
    built = [mutation for mutation in chosen if mutation.get("binary")]
    if built:
        build_binary()
    for mutation in chosen:  # before anything is mutated, so that the tree is built once for all
        passes_unchanged(mutation["test"])
    # What needs the unmutated binary comes before what replaces it.
    for number, mutation in enumerate(sorted(chosen, key=lambda each: bool(each.get("binary"))), 1):
        began = time.monotonic()
        fault = try_mutation(mutation)
        missed += bool(fault)
        seconds = time.monotonic() - began
        verdict = f"MISSED: {fault}" if fault else f"red in `make {mutation['in']}`"
        print(f"{number}/{len(chosen)} {mutation['name']}: {verdict} ({seconds:.0f} s)", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} mutations turn their test red")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
