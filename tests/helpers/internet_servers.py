"""The far side of a made Internet: nginx and Caddy, each at an address of its own.

Run as a script there, with a folder that has `internet.json`: `nginx` and `caddy`, addresses;
`files`, `certificate`, `key`, `is_cold`. Prints `ready` once both have answered with each file, as
servers that others use have long done (Caddy's first answers take 2 to 30 ms more), or, where
`is_cold`, once both can be connected to. Ends with its input.
"""

import json
import socket
import ssl
import subprocess
import sys
import time
from http.client import HTTPSConnection
from pathlib import Path

POLL_S, START_S = 0.02, 20.0

NGINX = """daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; user root;
events {{ worker_connections 256; }}
http {{
    access_log off; etag off; include {folder}/types;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {nginx}:443 ssl http2;{nginx6}
        ssl_certificate {certificate}; ssl_certificate_key {key};
        root {files}; index index.html;
    }}
}}
"""
TYPES = "types { text/html html; text/css css; image/png png; text/javascript js; }\n"
CADDY = """{{
    admin off
    auto_https off
    storage file_system {folder}/storage
    servers {{
        protocols h1 h2 h3
    }}
}}
https:// {{
    bind {caddy} {caddy6}
    tls {certificate} {key}
    root * {files}
    header Access-Control-Allow-Origin *
    file_server
}}
"""


def wait_for(address: str) -> None:
    deadline = time.monotonic() + START_S
    while socket.socket().connect_ex((address, 443)):
        assert time.monotonic() < deadline, f"nobody answers at {address}"
        time.sleep(POLL_S)


def ask_for(files: Path, address: str) -> None:
    """Each of the files once, over one connection."""
    by_address = ssl.create_default_context()
    by_address.check_hostname, by_address.verify_mode = False, ssl.CERT_NONE
    connection = HTTPSConnection(address, timeout=START_S, context=by_address)
    for file in sorted(files.iterdir()):
        connection.request("GET", f"/{file.name}")
        answer = connection.getresponse()
        assert answer.read() == file.read_bytes(), f"{address}: {answer.status} of {file.name}"
    connection.close()


def main() -> None:
    folder = Path(sys.argv[1])
    about = json.loads((folder / "internet.json").read_text())
    nginx6 = about.get("nginx6")
    more = {"nginx6": f" listen [{nginx6}]:443 ssl http2;" if nginx6 else ""}
    more["caddy6"] = about.get("caddy6", "")
    places = more | {
        name: about[name] for name in ("nginx", "caddy", "files", "certificate", "key")
    }
    (folder / "types").write_text(TYPES)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, **places))
    (folder / "Caddyfile").write_text(CADDY.format(folder=folder, **places))
    nginx = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    caddy = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    log = (folder / "output.txt").open("wb")
    servers = [subprocess.Popen(each, stdout=log, stderr=log) for each in (nginx, caddy)]
    for address in (about["nginx"], about["caddy"]):
        wait_for(address)
        if not about["is_cold"]:
            ask_for(Path(about["files"]), address)
    print("ready", flush=True)
    sys.stdin.read()
    for server in servers:
        server.terminate()


if __name__ == "__main__":
    main()
