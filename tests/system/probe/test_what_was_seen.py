"""A row states what was seen: servers on loopback that are slow, or that keep no sessions."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from probe_request import config
from tls_files import self_signed, signed

from eyelevel.lab.prober import probe_events

HOST = "server.localhost"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
THINKS_S = 0.3
"""What a key in a hardware module, or a loaded machine, takes before its ServerHello."""


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    self_signed(folder, "ca")
    (folder / "names").write_text(f"subjectAltName=DNS:{HOST}\n", encoding="ascii")
    signed(folder, "server", "-extfile", "names")
    return folder


@contextmanager
def served(certified: Path, *, thinks_s: float = 0.0, tickets: int = 2) -> Iterator[int]:
    """A server's port; it answers each connection once and then waits for its client to close."""
    over = threading.Event()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certified / "server.pem", certified / "server.key")
    context.num_tickets = tickets

    def think(*_: object) -> None:
        over.wait(thinks_s)

    context.sni_callback = think

    def answer(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), context.wrap_socket(connection, True) as stream:
            stream.recv(4096)
            stream.sendall(ANSWER)
            stream.recv(4096)

    def serve(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                answer(listener.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def probed(certified: Path, port: int, **changes: Any) -> list[Any]:
    """Rows of attempts on a name below `localhost`, which is looked up without a server."""
    target = {"host": HOST, "port": port, "path": "/", "connect": None}
    asked = {"targets": [target], "protocols": ["tls1.2", "tls1.3"], "count": 1} | changes
    return list(probe_events("probe", config("", certified / "ca.pem", v6=False, **asked)))


def test_a_server_that_is_slow_to_say_hello_is_no_proxy(certified: Path) -> None:
    with served(certified, thinks_s=THINKS_S) as port:
        rows = probed(certified, port)
    assert [row["failure"] for row in rows] == [None, None], rows
    assert all(row["tls_handshake_us"] > THINKS_S * 1e6 for row in rows)
    assert not any(row["split_connection"] for row in rows)
    assert {(row["address"], row["dns_us"], row["cnames"]) for row in rows} == {
        ("127.0.0.1", None, None)
    }


def test_a_server_without_tickets_is_no_timeout(certified: Path) -> None:
    with served(certified, tickets=0) as port:
        asked = {"protocols": ["tls1.3"], "resume_session": True, "timeout_ms": 60_000}
        full, second = probed(certified, port, **asked)
    assert (full["failure"], full["http_status"]) == (None, 200)
    assert second["failure"] == "no-session" and "gave no ticket" in second["failure_detail"]
