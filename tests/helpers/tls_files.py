"""Authorities and certificates for Dask's TLS settings, made by openssl as the guide makes them."""

import subprocess
from pathlib import Path

from timeouts import TEST_TIMEOUT_S

TLS = "distributed.comm.tls"
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(folder: Path, *words: str) -> None:
    """Run it in a folder."""
    command = ["openssl", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=TEST_TIMEOUT_S)


def self_signed(folder: Path, name: str) -> None:
    """Write `name.pem` and `name.key` of an authority."""
    subject = f"/CN=eyelevel {folder.name} {name}"  # two of one subject are taken for each other
    openssl(folder, "req", "-x509", *_KEY, "-days", "30", "-subj", subject,
            "-keyout", f"{name}.key", "-out", f"{name}.pem")  # fmt: skip


def signed(folder: Path, name: str, *words: str, days: int = 30) -> None:
    """Write `name.pem` and `name.key`, signed by the folder's `ca`."""
    subject = f"/CN=eyelevel {name}"
    openssl(folder, "req", *_KEY, "-subj", subject, "-keyout", f"{name}.key", "-out", "csr")
    openssl(folder, "x509", "-req", "-in", "csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", str(days), *words, "-out", f"{name}.pem")  # fmt: skip


def authority(folder: Path) -> Path:
    """A new folder with an authority and a certificate that it signed for all sides."""
    folder.mkdir()
    self_signed(folder, "ca")
    signed(folder, "run")
    return folder


def settings_of(folder: Path) -> dict[str, str]:
    """Dask's settings for a folder of `authority`."""
    given = {f"{TLS}.ca-file": folder / "ca.pem"}
    for role in ("client", "scheduler", "worker"):
        given |= {f"{TLS}.{role}.cert": folder / "run.pem", f"{TLS}.{role}.key": folder / "run.key"}
    return {name: str(file) for name, file in given.items()}


def environment_of(folder: Path) -> dict[str, str]:
    """Return the settings as environment variables."""
    given = settings_of(folder).items()
    return {
        "DASK_" + name.upper().replace("-", "_").replace(".", "__"): file for name, file in given
    }
