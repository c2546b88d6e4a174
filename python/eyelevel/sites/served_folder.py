"""Serve a folder of static files on loopback while its page is recorded."""

import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from os import PathLike, getuid
from pathlib import Path
from typing import BinaryIO

from eyelevel.base.errors import ExpectedError

INDEX = "index.html"
HOST = "127.0.0.1"
DOMAIN = ".test"
"""A reserved domain (RFC 6761, section 6.2). Browsers resolve it by DNS, unlike names below
`localhost`.
"""

_TYPES = {
    **{".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json"},
    **{".woff2": "font/woff2", ".woff": "font/woff", ".wasm": "application/wasm"},
    **{".webp": "image/webp", ".avif": "image/avif", ".svg": "image/svg+xml"},
}
"""Media types that differ between systems, by file extension."""

_SOCKETS = Path("/proc/net/tcp")


class FolderError(ExpectedError):
    """The folder contains no page."""


@dataclass(frozen=True)
class ServedFolder:
    """A served folder: the URL of its page, and the address to resolve its host to."""

    url: str
    resolve: str


@contextmanager
def serve_folder(folder: Path) -> Iterator[ServedFolder]:
    """Serve a folder to processes of this user, under a host name derived from the folder's.

    Raises `FolderError` if it has no start page.
    """
    if not (folder / INDEX).is_file():
        raise FolderError(
            f"{folder} has no {INDEX}: give the folder that a browser's page begins in, or a URL"
        )
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")[:63].strip("-")
    host = (name or "site") + DOMAIN
    with ThreadingHTTPServer((HOST, 0), partial(_Files, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield ServedFolder(f"http://{host}/", f"{host}:80:{HOST}:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()


class _Files(SimpleHTTPRequestHandler):
    """Serves files only: no listings, nothing outside the folder, nothing to other users."""

    protocol_version = "HTTP/1.1"
    extensions_map = SimpleHTTPRequestHandler.extensions_map | _TYPES

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        """Send the response head of a file that the client may read."""
        root = Path(self.directory).resolve()
        if not Path(self.translate_path(self.path)).resolve().is_relative_to(root):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        if uid_of(self.client_address[1]) != getuid():
            self.send_error(HTTPStatus.FORBIDDEN)
            return None
        return super().send_head()

    def list_directory(self, path: str | PathLike[str]) -> None:
        """Refuse directory listings."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, *_: object) -> None:
        """Log nothing: the recorder reports what it recorded."""


def uid_of(port: int) -> int | None:
    """Return the user id of the owner of the loopback socket with this port.

    Returns None if there is none.
    """
    bound = f"0100007F:{port:04X}"
    rows = (line.split() for line in _SOCKETS.read_text(encoding="ascii").splitlines())
    return next((int(row[7]) for row in rows if row[1] == bound), None)
