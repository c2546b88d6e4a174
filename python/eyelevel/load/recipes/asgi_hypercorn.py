"""hypercorn with the site of a lab, by a small ASGI application: HTTP/1.1, 2 and 3.

Needs `pip install 'hypercorn[h3]'` in its Python.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypedDict

from hypercorn.asyncio import serve
from hypercorn.config import Config

FILES = Path(os.environ["EYELEVEL_FILES"])
VERSION = os.environ["EYELEVEL_HTTP_VERSION"]

Fields = list[tuple[bytes, bytes]]
Answer = tuple[int, Fields, Path]
Message = dict[str, object]


class Scope(TypedDict):
    """The fields of a request that are read here."""

    type: str
    headers: Fields
    raw_path: bytes
    query_string: bytes


def read_answers() -> dict[str, Answer]:
    """Return the answer to each URL without its scheme, and to each path for other queries."""
    fields: dict[str, Fields] = {}
    for line in Path(os.environ["EYELEVEL_FIELDS"]).read_text("utf-8").split("\n")[:-1]:
        file, name, value = line.split("\t")
        fields.setdefault(file, []).append((name.lower().encode(), value.encode()))
    found: dict[str, Answer] = {}
    for line in Path(os.environ["EYELEVEL_ANSWERS"]).read_text("utf-8").split("\n")[:-1]:
        host, target, file, _, status, size = line.split("\t")
        length = [] if status == "204" else [(b"content-length", size.encode())]
        answer = (int(status), [*fields.get(file, []), *length], FILES / file)
        found[host + target] = answer
        found.setdefault(host + target.split("?")[0], answer)
    return found


ANSWERS = read_answers()


async def site(scope: Scope, _receive: object, send: Callable[[Message], Awaitable[None]]) -> None:
    """Answer a request with its file."""
    if scope["type"] != "http":
        return
    host = dict(scope["headers"]).get(b"host", b"").decode().split(":")[0]
    path, query = scope["raw_path"].decode(), scope["query_string"].decode()
    found = ANSWERS.get(f"{host}{path}?{query}" if query else host + path)
    found = found or ANSWERS.get(host + path)
    status, fields, file = found or (404, [(b"content-length", b"0")], None)
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": file.read_bytes() if file else b""})


def main() -> None:
    """Serve until the lab ends."""
    # Each address has a socket: a wildcard's answers would leave from another address than the one
    # that was asked.
    addresses = os.environ["EYELEVEL_ADDRESSES"].split()
    binds = [f"[{each}]:443" if ":" in each else f"{each}:443" for each in addresses]
    settings = {
        "bind": binds,
        "alpn_protocols": ["http/1.1"] if VERSION == "h1" else ["h2", "http/1.1"],
        "certfile": os.environ["EYELEVEL_CERTIFICATE"],
        "keyfile": os.environ["EYELEVEL_KEY"],
        "loglevel": "ERROR",
    }
    if VERSION == "h3":
        # Without the field Chromium does not know that the host heeds priorities, and holds images
        # back.
        settings |= {"quic_bind": binds, "alt_svc_headers": ['h3=":443"']}
    asyncio.run(serve(site, Config.from_mapping(settings)))


if __name__ == "__main__":
    main()
