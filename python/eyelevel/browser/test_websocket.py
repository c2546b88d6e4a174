import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from eyelevel.browser.errors import BrowserGoneError
from eyelevel.browser.websocket import WebSocket


@contextmanager
def opened() -> Iterator[tuple[WebSocket, socket.socket]]:
    """A client after its handshake, and the server's end."""
    ours, theirs = socket.socketpair()
    theirs.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
    client = WebSocket(ours, "127.0.0.1:1", "/session", time.monotonic() + 5)
    head = theirs.recv(10_000)
    assert head.startswith(b"GET /session HTTP/1.1\r\nHost: 127.0.0.1:1\r\n")
    assert head.endswith(b"\r\n\r\n")
    try:
        yield client, theirs
    finally:
        client.close()
        theirs.close()


def unmasked(frame: bytes) -> bytes:
    length, at = frame[1] & 0x7F, 2
    if length >= 126:
        at = 4 if length == 126 else 10
        length = int.from_bytes(frame[2:at], "big")
    mask, masked = frame[at : at + 4], frame[at + 4 :]
    assert frame[1] & 0x80 and len(masked) == length
    return bytes(byte ^ mask[number % 4] for number, byte in enumerate(masked))


def test_what_is_sent_is_masked_whatever_its_length():
    with opened() as (client, theirs):
        for text in ("", "a", "ä" * 60, "b" * 125, "c" * 126, "d" * 65_536):
            client.send(text)
            frame = b""
            while len(frame) < len(text.encode()) + 6:
                frame += theirs.recv(100_000)
            assert frame[0] == 0x81
            assert unmasked(frame).decode() == text


def test_fragments_and_pings_between_them_make_one_message():
    with opened() as (client, theirs):
        theirs.sendall(b"\x01\x03one" + b"\x89\x02hi" + b"\x80\x7e\x01\x00" + b"x" * 256)
        assert client.receive(time.monotonic() + 5) == "one" + "x" * 256
        assert unmasked(theirs.recv(100)) == b"hi"  # the ping's own words


def test_a_message_that_did_not_come_whole_is_none_yet():
    with opened() as (client, theirs):
        theirs.sendall(b"\x81\x05hel")
        assert client.receive(time.monotonic()) is None
        theirs.sendall(b"lo")
        assert client.receive(time.monotonic() + 5) == "hello"


def test_an_end_is_an_error():
    with opened() as (client, theirs):
        theirs.sendall(b"\x88\x00")
        with pytest.raises(BrowserGoneError, match="closed"):
            client.receive(time.monotonic() + 5)
    with opened() as (client, theirs):
        theirs.close()
        with pytest.raises(BrowserGoneError, match="closed"):
            client.receive(time.monotonic() + 5)
