"""The system call filter of containers with labs: what engines allow, and thirteen calls more.

    python -m scripts.shipping.seccomp_profile >packaging/image/seccomp.json

Allowed is each call that the kernel's headers here name, but for those that `REFUSED` has a reason
for: what Docker documents as blocked by its default, and the like. A call that comes later is
refused. `tests/scripts/test_seccomp_profile.py` compares it with podman's own default.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
EPERM, ENOSYS = 1, 38
AF_VSOCK = 40

NEEDED_BY_LABS = {
    "unshare": "namespaces: the servers', the browser's, and those of browsers' own sandboxes",
    "setns": "the browser joins its lab",
    "mount": "a lab's own /proc and names",
    "umount2": "the old view of files is let go of",
    "pivot_root": "the browser's root is a view of its own",
    "open_tree": "what the view consists of is held open",
    "move_mount": "and attached",
    "fsopen": "a new /proc and temporary file systems",
    "fsconfig": "the same",
    "fsmount": "the same",
    "mount_setattr": "read-only, without devices",
    "chroot": "Chromium's sandbox",
    "sethostname": "the browser's machine has no name that tells",
}
"""What engines refuse without capabilities, beside `clone` with namespaces."""

REFUSED = {
    "the machine's clock": "adjtimex clock_adjtime clock_settime settimeofday",
    "the kernel and its modules": (
        "acct create_module delete_module finit_module get_kernel_syms init_module kexec_file_load "
        "kexec_load query_module reboot syslog _sysctl sysfs uselib ustat vserver security tuxcall "
        "afs_syscall getpmsg putpmsg nfsservctl epoll_ctl_old epoll_wait_old"
    ),
    "hardware": "ioperm iopl modify_ldt vhangup",
    "keys that are not per namespace": "add_key keyctl request_key",
    "other processes": (
        "kcmp pidfd_getfd process_madvise process_vm_readv process_vm_writev ptrace migrate_pages "
        "move_pages"
    ),
    "memory of many nodes": "get_mempolicy mbind set_mempolicy set_mempolicy_home_node",
    "files by what no path leads to": (
        "fanotify_init fanotify_mark lookup_dcookie name_to_handle_at open_by_handle_at quotactl "
        "quotactl_fd swapoff swapon fspick"
    ),
    "parts of the kernel with many holes of late": (
        "bpf io_uring_enter io_uring_register io_uring_setup perf_event_open userfaultfd vmsplice"
    ),
    "the names of the domain": "setdomainname",
    "judged by their arguments below": "clone3 personality socket",
}
"""By reason."""

PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
"""Linux, 32 bits, old kernels' version numbers, both, and the question which."""


def calls_of(header: str) -> set[str]:
    """The names of a kernel header's system calls."""
    return set(re.findall(r"^#define __NR_(\w+) \d+$", header, flags=re.MULTILINE))


def profile(known: set[str]) -> dict[str, Any]:
    """The filter as podman and docker read it."""
    refused = {name for names in REFUSED.values() for name in names.split()}
    allowed = sorted(known - refused | set(NEEDED_BY_LABS))
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": EPERM,
        "archMap": [
            {"architecture": f"SCMP_ARCH_{name}", "subArchitectures": []}
            for name in ("X86_64", "AARCH64")
        ],
        "syscalls": [
            {"names": allowed, "action": "SCMP_ACT_ALLOW"},
            # Its flags are behind a pointer, which no filter follows: libraries fall back to clone.
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS},
            _where("socket", AF_VSOCK, "SCMP_CMP_NE"),
            *(_where("personality", value, "SCMP_CMP_EQ") for value in PERSONALITIES),
        ],
    }


def _where(call: str, value: int, comparison: str) -> dict[str, Any]:
    argument = {"index": 0, "value": value, "op": comparison}
    return {"names": [call], "action": "SCMP_ACT_ALLOW", "args": [argument]}


if __name__ == "__main__":
    json.dump(profile(calls_of(HEADER.read_text(encoding="utf-8"))), sys.stdout, indent=1)
    print()
