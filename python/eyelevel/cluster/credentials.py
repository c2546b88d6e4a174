"""TLS credentials of one run on loopback, which every user of a machine can reach.

Scheduler, nannies and workers all present the same certificate and accept no other. Its key is in
memory and, if slots are started by hand, in a file that only its owner can read.
"""

import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from ssl import TLSVersion
from typing import Self

from distributed.security import Security

from eyelevel.cluster.connection import ClusterError
from eyelevel.lab.binary import run_tool


@dataclass(frozen=True)
class Credentials:
    """A private key and its self-signed certificate, both as PEM."""

    key: str = field(repr=False)
    certificate: str

    @classmethod
    def new(cls) -> Self:
        """Generate new credentials. Raises `LabError`."""
        made = run_tool(["credentials"])
        return cls(made["key"], made["certificate"])

    @classmethod
    def of_json(cls, found: object) -> Self | None:
        """Return the credentials from `as_json`'s value; None for any other value."""
        match found:
            case {"key": str(key), "certificate": str(certificate)}:
                return cls(key, certificate)
        return None

    @classmethod
    def of_line(cls, line: bytes) -> Self | None:
        """Parse the line that a run writes to its own slots; None if the run ended before."""
        return cls.of_json(json.loads(line)) if line.endswith(b"\n") else None

    def as_json(self) -> dict[str, str]:
        """Return the credentials as JSON for `of_json`."""
        return {"key": self.key, "certificate": self.certificate}

    def security(self) -> Security:
        """Return the credentials as Dask's `Security`; none of Dask's own TLS settings is used."""
        pairs: dict[str, str] = {}
        for role in ("client", "scheduler", "worker"):
            pairs |= {f"tls_{role}_key": self.key, f"tls_{role}_cert": self.certificate}
        return Security(
            require_encryption=True,
            tls_ca_file=self.certificate,
            tls_min_version=TLSVersion.TLSv1_3,  # all ends run the same version of eyelevel
            tls_max_version=None,
            tls_ciphers=None,
            **pairs,
        )


def check_own(file: Path) -> None:
    """Raise `ClusterError` for a credentials file that another user owns or can write to.

    The owner of these credentials can run programs as this user.
    """
    found = file.stat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise ClusterError(
            f"reading {file}: another user wrote it or can change it, and whoever does could run "
            "programs as you; start the worker as the user who started the run"
        )


def check_private(file: Path) -> None:
    """Raise `ClusterError` if others can read a file, as on disks without permissions."""
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise ClusterError(
            f"writing {file}: this disk lets other users read it, and it holds the run's key; give "
            "--out a directory on another disk, or Dask's TLS settings "
            "(docs/guides/many-machines.md)"
        )
