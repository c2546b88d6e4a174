"""The system call filter for containers: what engines allow anyway, and what labs need."""

import json
from pathlib import Path

import pytest
from repository import ROOT

from scripts.shipping import seccomp_profile
from scripts.shipping.seccomp_profile import NEEDED_BY_LABS, REFUSED, calls_of, profile

SHIPPED = json.loads((ROOT / "packaging/image/seccomp.json").read_text("utf-8"))
PODMANS = Path("/usr/share/containers/seccomp.json")
JUDGED_ELSEWHERE = {"sethostname", "setns", "chroot", "arch_prctl", "io_pgetevents", "futex_waitv"}
"""What podman's default allows with a capability or on one architecture, or is too old to know."""


def _allowed(of: dict) -> set[str]:
    """Calls that are allowed whatever their arguments and the container's capabilities."""
    return {
        name
        for rule in of["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args") and not rule.get("includes")
        for name in rule["names"]
    }


def test_what_labs_need_is_allowed_and_what_has_a_reason_is_not():
    allowed = _allowed(SHIPPED)
    assert set(NEEDED_BY_LABS) | {"clone", "execve", "openat"} <= allowed
    assert not allowed & {name for names in REFUSED.values() for name in names.split()}
    assert SHIPPED["defaultAction"] == "SCMP_ACT_ERRNO"


def test_a_call_that_nobody_judged_is_refused():
    header = "#define __NR_read 0\n#define __NR_ptrace 101\n#define __NR_brand_new 999\n"
    assert calls_of(header) == {"read", "ptrace", "brand_new"}
    written = profile(calls_of(header) - {"brand_new"})
    assert _allowed(written) == {"read", *NEEDED_BY_LABS}


def test_the_shipped_one_is_what_its_script_writes():
    known = _allowed(SHIPPED) | {name for names in REFUSED.values() for name in names.split()}
    assert profile(known) == SHIPPED
    header = seccomp_profile.HEADER
    if header.exists():
        # A kernel's later headers may name more, which have to be judged first.
        assert _allowed(SHIPPED) <= calls_of(header.read_text("utf-8"))


def test_nothing_beyond_podmans_default_but_what_labs_need():
    if not PODMANS.exists():
        pytest.skip(f"podman's own profile ({PODMANS}) is absent")
    beyond = _allowed(SHIPPED) - _allowed(json.loads(PODMANS.read_text("utf-8")))
    assert beyond <= set(NEEDED_BY_LABS) | JUDGED_ELSEWHERE, beyond
