"""A made Internet: a lab whose far side has servers of others at public addresses, with names.

What runs on its near side has the emulated path in front of it and nothing else: no packet leaves
this machine. The page is nginx's, its style and pictures are Caddy's.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import internet_servers
import names_of
import pytest
from labs import run_in
from pages import image
from raw_lab import once_ready
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.client import Lab, LabConfig

WWW, STATIC = "www.made-live.example", "static.made-live.example"
URL = f"https://{WWW}/"
ADDRESSES = {WWW: "198.41.0.4", STATIC: "192.33.4.12"}
ADDRESSES6 = {WWW: "2001:503:ba3e::2:30", STATIC: "2001:500:2::c"}
MACHINE6 = "2001:500:9f::42"
"""The near side's own, where it has IPv6."""
EXAMPLES = ("www.example.org", "www.example.com", "www.example.net", "example.org")
"""Names that guides have; the second server has them where a test asks for it (`also`)."""
RESOLVER = "127.0.0.53"
"""The machine's own, as systemd's: what it knows takes no round trip."""
PROGRAMS = ("nginx", "caddy", "openssl")
IMAGES = 4
PAGE = (
    "<!doctype html><title>live</title><link rel=icon href=data:,>"
    f"<link rel=stylesheet href=https://{STATIC}/style.css><h1>A heading</h1>"
    + "".join(f"<img src=https://{STATIC}/{n}.png width=200 height=100>" for n in range(IMAGES))
)


@dataclass(frozen=True)
class Internet:
    """The emulated Internet of a test."""

    lab: Lab
    authority: Path
    """PEM, of the servers' certificates."""

    def eyelevel(
        self, *words: str, timeout_s: float = TEST_TIMEOUT_S
    ) -> subprocess.CompletedProcess[str]:
        """The command on the near side, which is the machine that loads."""
        command = [*self.lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", *words]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False, cwd="/"
        )


def needs_programs() -> None:
    """Skips where servers of others are not installed."""
    for program in PROGRAMS:
        if not shutil.which(program):
            pytest.skip(f"not installed: {program}")


@contextmanager
def emulated_internet(
    folder: Path,
    rtt_ms: float = 20.0,
    own_rtt_ms: Mapping[str, float] | None = None,
    names: Mapping[str, str] | None = None,
    *,
    also: Sequence[str] = (),
    ipv6: bool = False,
    is_cold: bool = False,
) -> Iterator[Internet]:
    """Servers behind this round trip, and hosts behind `own_rtt_ms` more; their files are in
    `folder`, made once.

    `names`: what the resolver knows beside theirs. `also`: more names of the second server's.
    `ipv6`: servers and machine have it, too.
    `is_cold`: the servers have not answered anybody yet.
    """
    authority = _certificates(folder, also)
    _write_files(folder / "files")
    about: dict[str, str | bool] = {"nginx": ADDRESSES[WWW], "caddy": ADDRESSES[STATIC]}
    about |= {"files": str(folder / "files"), "is_cold": is_cold}
    about |= {"certificate": str(folder / "chain.pem"), "key": str(folder / "leaf.key")}
    if ipv6:
        about |= {"nginx6": ADDRESSES6[WWW], "caddy6": ADDRESSES6[STATIC]}
    (folder / "internet.json").write_text(json.dumps(about))
    own_ms = {ADDRESSES[host]: own / 2 for host, own in (own_rtt_ms or {}).items()}
    delay = {"stage": "address_delay", "delays_ms": own_ms, "default_ms": 0}
    path = [delay, {"stage": "delay", "delay_ms": rtt_ms / 2}]
    with Lab(LabConfig({"down": path, "up": path[::-1]}, seed=1)) as lab:
        far = lab.server_command_prefix
        for address in ADDRESSES.values():
            subprocess.run([*far, "ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
        if ipv6:
            _add_ipv6(lab)
        word = f"echo nameserver {RESOLVER} > /etc/resolv.conf"
        assert run_in(lab, "sh", "-c", word).returncode == 0
        servers = [*far, sys.executable, internet_servers.__file__, str(folder)]
        theirs: dict[str, str | list[str]] = dict(names or {}) | ADDRESSES
        theirs |= dict.fromkeys(also, ADDRESSES[STATIC])
        if ipv6:
            theirs |= {host: [ADDRESSES[host], ADDRESSES6[host]] for host in ADDRESSES}
            theirs |= {host: [ADDRESSES[STATIC], ADDRESSES6[STATIC]] for host in also}
        known = json.dumps(theirs)
        resolver = [*lab.command_prefix, sys.executable, names_of.__file__, RESOLVER, known]
        with once_ready(servers), once_ready(resolver):
            yield Internet(lab, authority)


def _add_ipv6(lab: Lab) -> None:
    """Public addresses on both sides; the path has IPv6 already."""
    for prefix, addresses in (
        (lab.server_command_prefix, ADDRESSES6.values()),
        (lab.command_prefix, [MACHINE6]),
    ):
        for address in addresses:
            words = ["ip", "-6", "address", "add", f"{address}/128", "dev", "lo", "nodad"]
            subprocess.run([*prefix, *words], check=True)


def _write_files(files: Path) -> None:
    files.mkdir(exist_ok=True)
    (files / "index.html").write_text(PAGE)
    (files / "style.css").write_text("body { margin: 0; background: rgb(230, 230, 255) }")
    for number in range(IMAGES):
        (files / f"{number}.png").write_bytes(image(number * 40))


def _certificates(folder: Path, also: Sequence[str]) -> Path:
    """An authority and a chain of it, made once a folder."""
    authority, chain = folder / "ca.pem", folder / "chain.pem"
    if chain.exists():
        return authority
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    names = ",".join(f"DNS:{name}" for name in (*ADDRESSES, *also))
    (folder / "names").write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth\n")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=made")
    openssl("req", *new_key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", f"/CN={WWW}")
    signer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30"]
    openssl("x509", "-req", "-in", "leaf.csr", *signer, "-extfile", "names", "-out", "leaf.pem")
    # The authority, too: a browser that is told a key must be shown it.
    chain.write_bytes((folder / "leaf.pem").read_bytes() + authority.read_bytes())
    return authority
