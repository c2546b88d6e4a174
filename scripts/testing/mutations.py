"""Plants each mutation of tests/mutations.toml in a copy of the tree and runs its test.

    scripts/mutations [--sample] [--again] [NAME ...]

Prints one line per mutation and exits with 1 if a test stays green under its mutation, is red
without it, or the text to replace is gone. A mutation that turns no test red shows that nothing
would notice the fault. The copy is out/mutations; builds are kept there between runs. What turned
red is in out/mutations.csv and is left out by the next run, until its entry, its file or its test
changes.
"""

import argparse
import csv
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.testing.select import ROOT

TABLE = ROOT / "tests" / "mutations.toml"
COPY = ROOT / "out" / "mutations"
RED = ROOT / "out" / "mutations.csv"
INCREMENTAL = {"CARGO_INCREMENTAL": "1"}
"""The environment in which one line of a crate is compiled in a fifth of the time."""
SHORT = {"EYELEVEL_TEST_TIMEOUT_S": "120", "NEXTEST_PROFILE": "mutations"}
"""The environment in which a test that hangs ends soon: many do under a mutation."""
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
    environment = {
        **os.environ,
        **INCREMENTAL,
        **SHORT,
        "PATH": f"{COPY / '.venv/bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(COPY / "python"),
        "EYELEVEL_TESTS": "full",
    }
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
    subprocess.run(command, cwd=COPY, env={**os.environ, **INCREMENTAL}, check=True)
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


def digest_mutation(mutation: dict[str, Any], tree: Path) -> str:
    """Return the SHA-256 of all that a mutation's verdict rests on: entry, file and test."""
    digest = hashlib.sha256(json.dumps(mutation, sort_keys=True).encode())
    for name in (mutation["file"], mutation["test"].partition("::")[0]):
        place = tree / name
        if place.is_file():
            digest.update(place.read_bytes())
    return digest.hexdigest()


def needs_crates(mutation: dict[str, Any]) -> bool:
    """Return whether a mutation's test compiles, reads or runs the crates."""
    return bool(mutation.get("binary")) or not mutation["test"].startswith("tests/python/")


class Planter:
    """Plants mutations, prints and keeps what turned red."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.tried = 0
        self.missed = 0
        self.began = time.monotonic()
        self.lock = threading.Lock()

    def plant(self, mutations: Sequence[dict[str, Any]]) -> None:
        """Plant mutations one after another, those of one test together."""
        for mutation in sorted(mutations, key=lambda each: (each["test"], each["file"])):
            began = time.monotonic()
            fault = try_mutation(mutation)
            seconds = time.monotonic() - began
            verdict = f"MISSED: {fault}" if fault else f"red in `make {mutation['in']}`"
            with self.lock:
                self.tried += 1
                self.missed += bool(fault)
                left_min = (time.monotonic() - self.began) / self.tried * (self.count - self.tried)
                print(
                    f"{self.tried}/{self.count} {mutation['name']}: {verdict} ({seconds:.0f} s; "
                    f"{left_min / 60:.0f} min left)",
                    flush=True,
                )
                if not fault:
                    keep_red(mutation, seconds)


def read_red() -> set[str]:
    """Return the digests of the mutations that turned their test red in an earlier run."""
    if not RED.exists():
        return set()
    with RED.open(newline="", encoding="utf-8") as file:
        return {row["digest"] for row in csv.DictReader(file)}


def keep_red(mutation: dict[str, Any], seconds: float) -> None:
    """Append a mutation that turned its test red to the list of them."""
    row = {
        "mutation": mutation["name"],
        "file": mutation["file"],
        "test": mutation["test"],
        "in": mutation["in"],
        "wall_s": f"{seconds:.0f}",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "digest": digest_mutation(mutation, COPY),  # the tree itself may have changed meanwhile
    }
    is_new = not RED.exists()
    with RED.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, row)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def _is_of(mutation: dict[str, Any], part: str) -> bool:
    return part in mutation["name"] or part in mutation["test"]


def main() -> int:
    """Try the mutations that the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="scripts/mutations", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("name", nargs="*", help="part of a mutation's name or test")
    parser.add_argument("--sample", action="store_true", help="those that `make test` notices")
    parser.add_argument("--again", action="store_true", help="those that turned red before, too")
    arguments = parser.parse_args()
    named = [
        mutation
        for mutation in read_mutations()
        if (not arguments.sample or mutation["in"] == "test")
        and (not arguments.name or any(_is_of(mutation, part) for part in arguments.name))
    ]
    if not named:
        parser.error(f"no mutation has {' or '.join(arguments.name)} in its name or test")
    red = set() if arguments.again else read_red()
    chosen = [mutation for mutation in named if digest_mutation(mutation, ROOT) not in red]
    if chosen:
        make_copy()
    built = [mutation for mutation in chosen if mutation.get("binary")]
    if built:
        build_binary()
        for mutation in built:  # each needs the unmutated binary for its unmutated test
            passes_unchanged(mutation["test"])
    planter = Planter(len(chosen))
    unbuilt = [mutation for mutation in chosen if not mutation.get("binary")]
    # What compiles takes both processors only at times: other tests go on beside it.
    lanes = [
        threading.Thread(target=planter.plant, args=(each,))
        for each in (
            [mutation for mutation in unbuilt if needs_crates(mutation)],
            [mutation for mutation in unbuilt if not needs_crates(mutation)],
        )
    ]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    planter.plant(built)
    print(f"{len(named) - planter.missed} of {len(named)} mutations turn their test red")
    return int(bool(planter.missed))


if __name__ == "__main__":
    sys.exit(main())
