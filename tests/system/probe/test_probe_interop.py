"""The prober against servers that others wrote, in a lab."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hang import HANG_S
from labs import cannot_build_labs
from probe_request import config
from repository import ROOT

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import probe_events

PATH = {side: [{"stage": "delay", "delay_ms": 5}] for side in ("down", "up")}
OPENSSL, NGINX, CADDY = (shutil.which(name) for name in ("openssl", "nginx", "caddy"))
AIOQUIC_SERVER = ROOT / "tests" / "helpers" / "aioquic_server.py"

pytestmark = [
    pytest.mark.skipif(bool(cannot_build_labs()), reason=cannot_build_labs() or "-"),
    pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed"),
]


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with an authority and a certificate for `lab` that it signed."""

    def openssl(*arguments: str) -> None:
        subprocess.run([str(OPENSSL), *arguments], cwd=tmp_path, check=True, capture_output=True)

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *new, "-subj", "/CN=x", "-keyout", "lab.key", "-out", "lab.csr")
    (tmp_path / "names").write_text("subjectAltName=DNS:lab\n", encoding="ascii")
    signing = "x509 -req -in lab.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names"
    openssl(*signing.split(), "-out", "lab.pem")
    return tmp_path


def probed(lab: Lab, keys: Path, **changes: Any) -> dict[str, Any]:
    wanted = config(lab.ready.server_address, keys / "ca.pem", count=1, **changes)
    return {row["protocol"]: row for row in probe_events("probe", wanted, lab.command_prefix)}


@contextmanager
def server(lab: Lab, keys: Path, command: Sequence[str], listens: str) -> Iterator[None]:
    """A server in the lab, from the line on that says that it listens."""
    with subprocess.Popen(
        [*lab.server_command_prefix, *command],
        cwd=keys,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if listens in line:
                break
        else:
            pytest.fail("".join(said))
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def s_server(lab: Lab, keys: Path, *options: str) -> Iterator[None]:
    command = [str(OPENSSL), "s_server", "-accept", "443", "-www"]
    command += ["-cert", "lab.pem", "-key", "lab.key", *options]
    with server(lab, keys, command, "ACCEPT"):
        yield


def test_openssl_s_server(keys: Path) -> None:
    with Lab(LabConfig(PATH, 1)) as lab:
        with s_server(lab, keys):
            rows = probed(lab, keys, protocols=["tcp", "tls1.2", "tls1.3"])
            again = probed(lab, keys, protocols=["tls1.2", "tls1.3"], resume_session=True)
        with s_server(lab, keys, "-groups", "P-384"):
            asked_again = probed(lab, keys, protocols=["tls1.3"])
        with s_server(lab, keys, "-no_tls1_3"):
            refused = probed(lab, keys, protocols=["tls1.3"])
    assert [row["failure"] for row in rows.values()] == [None] * 3, rows
    assert (rows["tls1.2"]["version"], rows["tls1.3"]["version"]) == ("TLSv1_2", "TLSv1_3")
    assert {rows[name]["http_status"] for name in ("tls1.2", "tls1.3")} == {200}
    assert all(row["resumed"] for row in again.values()), again
    assert asked_again["tls1.3"]["hello_retry_request"]
    assert refused["tls1.3"]["failure"] == "tls-version"


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx(keys: Path) -> None:
    (keys / "nginx.conf").write_text(
        f"""
        pid {keys}/pid; error_log {keys}/error.log; worker_processes 1; user root;
        events {{}}
        http {{
            access_log off;
            client_body_temp_path {keys}/b; proxy_temp_path {keys}/p; fastcgi_temp_path {keys}/f;
            uwsgi_temp_path {keys}/u; scgi_temp_path {keys}/s;
            server {{
                listen 443 ssl http2;
                ssl_certificate {keys}/lab.pem; ssl_certificate_key {keys}/lab.key;
                ssl_protocols TLSv1.2 TLSv1.3; ssl_early_data on;
                add_header Alt-Svc 'h3=":443"; ma=60';
                return 204;
            }}
        }}
        """,
        encoding="ascii",
    )
    with Lab(LabConfig(PATH, 1)) as lab:
        nginx = [*lab.server_command_prefix, str(NGINX), "-c", str(keys / "nginx.conf")]
        # It listens before it goes into the background, and ends with the lab.
        started = subprocess.run(nginx, capture_output=True, text=True, check=False, timeout=HANG_S)
        assert started.returncode == 0, started.stderr
        rows = probed(lab, keys, protocols=["tls1.2", "tls1.3"])
        early = probed(lab, keys, protocols=["tls1.3"], resume_session=True, early_data=True)
    for row in rows.values():
        assert (row["failure"], row["http_status"], row["http_version"]) == (None, 204, "h2"), row
        assert row["alt_svc"] == 'h3=":443"; ma=60'
    assert early["tls1.3"]["resumed"], early
    assert early["tls1.3"]["http_status"] in (204, 425)


@pytest.mark.skipif(CADDY is None, reason="caddy is not installed: apt-get install caddy")
def test_caddy(keys: Path) -> None:
    (keys / "Caddyfile").write_text(
        f"""
        {{
            admin off
            auto_https off
            storage file_system {keys}/storage
        }}
        https://lab {{
            tls {keys}/lab.pem {keys}/lab.key
            respond 204
        }}
        """,
        encoding="ascii",
    )
    command = [str(CADDY), "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
    with (
        Lab(LabConfig(PATH, 1)) as lab,
        server(lab, keys, command, "serving initial configuration"),
    ):
        rows = probed(lab, keys, protocols=["tcp", "tls1.2", "tls1.3", "quic"])
        again = probed(lab, keys, protocols=["tls1.3", "quic"], resume_session=True)
    for protocol, version in (("tls1.2", "h2"), ("tls1.3", "h2"), ("quic", "h3")):
        row = rows[protocol]
        assert (row["failure"], row["http_status"], row["http_version"]) == (None, 204, version)
    assert all("h3=" in rows[protocol]["alt_svc"] for protocol in ("tls1.2", "tls1.3"))
    assert all(row["resumed"] for row in again.values()), again


@pytest.mark.skipif(
    importlib.util.find_spec("aioquic") is None,
    reason="aioquic is not installed: pip install -r requirements-dev.lock",
)
def test_aioquic(keys: Path) -> None:
    command = [sys.executable, str(AIOQUIC_SERVER), "lab.pem", "lab.key"]
    both = {"protocols": ["quic", "quic-v2"]}
    with Lab(LabConfig(PATH, 1)) as lab:
        with server(lab, keys, command, "listening"):
            rows = probed(lab, keys, **both)
            early = probed(lab, keys, **both, resume_session=True, early_data=True)
        with server(lab, keys, [*command, "--retry"], "listening"):
            retried = probed(lab, keys, **both)
    for row in (*rows.values(), *early.values(), *retried.values()):
        assert (row["failure"], row["http_status"], row["http_version"]) == (None, 204, "h3"), row
        assert row["key_exchange_kind"] == "classical"
    assert {protocol: row["version"] for protocol, row in rows.items()} == {
        "quic": "1",
        "quic-v2": "2",
    }
    assert all(row["resumed"] and row["early_data_accepted"] for row in early.values()), early
    assert [row["retries"] for row in retried.values()] == [1, 1]
