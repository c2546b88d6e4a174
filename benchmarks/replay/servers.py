"""Our replay server and nginx on loopback with the same files, one worker each."""

import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import LabError

HOST = "www.example.test"
EXAMPLES = Path(__file__).parents[2] / "target/release/examples"
READY_S = 20.0

NGINX = """\
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  open_file_cache max=1000; open_file_cache_valid 1h;
  server {{
    listen 127.0.0.1:{port} ssl http2; server_name {host}; root {files};
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
  }}
}}
"""
NGINX_PORT = 28443


@dataclass(frozen=True)
class Site:
    """The same bodies as files and as a recording."""

    folder: Path
    files: Path
    recording: Path
    urls: tuple[str, ...]
    body_bytes: int


@dataclass(frozen=True)
class Served:
    """A running server: its process, where it listens, whom to trust."""

    pid: int
    site: Site
    address: str
    certificate: Path

    def memory_bytes_max(self) -> int:
        """The largest resident memory so far, mapped files included."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise LabError(f"process {self.pid} says nothing of its memory")


def synthetic_files(folder: Path, objects: int, object_bytes: int) -> Site:
    """Write `objects` incompressible bodies of `object_bytes` each."""
    files = folder / "files"
    files.mkdir()
    recording = folder / "site.warc"
    generator = random.Random(1)
    urls = []
    with recording.open("wb") as warc:
        for number in range(objects):
            body = generator.randbytes(min(object_bytes, 1_000_000))
            body = (body * (object_bytes // len(body) + 1))[:object_bytes]
            (files / f"{number}.bin").write_bytes(body)
            urls.append(f"https://{HOST}/{number}.bin")
            head = (
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            fields = (
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: "
                f"<urn:uuid:{number:032}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
                f"WARC-Target-URI: {urls[-1]}\r\n"
                "Content-Type: application/http; msgtype=response\r\n"
                f"Content-Length: {len(head) + len(body)}\r\n\r\n"
            )
            warc.write((fields + head).encode())
            warc.write(body)
            warc.write(b"\r\n\r\n")
    return Site(folder, files, recording, tuple(urls), objects * object_bytes)


@contextmanager
def ours(site: Site, version: str) -> Iterator[Served]:
    """Our server with the tuned stack of this HTTP version, no line an event."""
    command = [str(EXAMPLES / "serve"), str(site.recording), version, "--quiet"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = {}
        for line in process.stdout:
            name, _, value = line.strip().partition(" ")
            told[name] = value
            if name == "origin":
                break
        if "origin" not in told:
            raise LabError("the server did not start: cargo build --release --examples")
        certificate = site.folder / f"ours-{version}.pem"
        begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
        body = told["ca_certificate"].removeprefix(begin).strip().removesuffix(end)
        certificate.write_text("\n".join([begin, *body.split(), end, ""]))
        address = told["origin"].split()[1]
        yield Served(process.pid, site, address, certificate)
    finally:
        process.communicate(timeout=READY_S)


@contextmanager
def nginx(site: Site) -> Iterator[Served]:
    """nginx with one worker."""
    folder = site.folder / "nginx"
    folder.mkdir(exist_ok=True)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "7", "-subj", f"/CN={HOST}"),
            *("-addext", f"subjectAltName=DNS:{HOST}"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")),
        ],
        check=True,
        capture_output=True,
    )
    text = NGINX.format(folder=folder, port=NGINX_PORT, host=HOST, files=site.files)
    if Path("/proc/self").stat().st_uid == 0:
        text = "user root;\n" + text
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen(
        ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "e.log")]
    )
    try:
        deadline = time.monotonic() + READY_S
        while not (folder / "nginx.pid").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise LabError(f"nginx did not start: {(folder / 'error.log').read_text()}")
            time.sleep(0.01)
        yield Served(process.pid, site, f"127.0.0.1:{NGINX_PORT}", folder / "cert.pem")
    finally:
        process.terminate()
        process.wait(READY_S)
