"""Nonstandard answers reach a page through the recorder as they do without it.

A raw server gives the same generated answers twice: to Chromium itself, and to it through the
recorder. The page's scripts must see the same, and what they see must be in the recording.
"""

import base64
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from answers import answers
from opened_page import chromium_of_playwright

from eyelevel.lab.recorder import Recorder

SEED = 31
COUNT = 150
BAD_GATEWAY = 502

STATUS_LINES = (
    b"HTTP/1.1 200 OK",
    b"HTTP/1.1  200  OK",
    b"http/1.1 200 OK",
    b"HTTP/1.0 200 OK",
    b"HTTP/1.2 200 OK",
    b"HTTP/1 200 OK",
    b"HTTP/1.1 200",
    b"HTTP/1.1 200OK",
    b"HTTP/1.1 200 D\xe9s",
    b"HTTP/1.1 404 Not here",
    b"HTTP/1.1 999 Denied",
    b"\r\nHTTP/1.1 200 OK",
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=x\r\n\r\nhttp/1.1 200 OK",
)
FIELDS = (
    b"X-Plain: 1",
    b"PHP Warning: Module already loaded",
    b"preload",
    b": empty name",
    b"X-Spaced : 1",
    b"X-Fold: a;\r\n \t b",
    b"X-Latin: \xe9t\xe9",
    b"X-Line: 1\nX-Next: 2",
    b"X-Return: 1\rX-After: 2",
    b"X-Twice: 1\r\nx-twice: 2",
    b"X-Empty:",
    b"X-Nul: a\0b",
    b"\r\n".join(b"X-F%d: v" % number for number in range(150)),
    b"X-Big: " + b"b" * 100_000,
)
NOT_PASSED = {
    b"X-Control: a\x01b": "its field `X-Control` has a control character",
}
"""Fields that Chromium takes and the recorder's library does not: the recording names them."""
NO_HTTP = (b"ICY 200 OK", "its status line is `ICY 200 OK`")
"""Chromium shows the whole as a text, as in HTTP/0.9; the recording names it, too."""


def bodies(text: bytes) -> list[tuple[bytes, bytes]]:
    """The fields and bytes of a body in each framing that servers have, right and wrong."""
    size = len(text)
    chunks = b"%x\r\n%s\r\n" % (size, text)
    length = b"Content-Length: %d\r\n"
    return [
        (length % size, text),
        (length % size * 2, text),
        (b"Content-Length: %d, %d\r\n" % (size, size), text),
        (length % size, text + b"JUNK"),
        (length % (size + 9), text),
        (length % size + length % (size + 1), text),
        (b"Content-Length: +%d\r\n" % size, text),
        (b"Content-Length: many\r\n", text),
        (b"Content-Length:\r\n", text),
        (b"", text),
        (b"Transfer-Encoding: chunked\r\n", chunks + b"0\r\n\r\n"),
        (b"Transfer-Encoding: chunked\r\n" + length % 3, chunks + b"0\r\n\r\n"),
        (b"Transfer-Encoding: chunked\r\n", chunks + b"0\r\nX-Trailer: 1\r\n\r\n"),
        (b"Transfer-Encoding: chunked\r\n", chunks),
        (b"Transfer-Encoding: identity\r\n", text),
    ]


def generated() -> dict[str, tuple[bytes, str]]:
    """Answers by name, and the note of those that the recorder cannot pass."""
    draw = random.Random(SEED)
    made = {}
    for number in range(COUNT):
        fields, note = draw.sample(FIELDS, draw.randrange(3)), ""
        if draw.random() < 0.1:
            field, note = draw.choice(list(NOT_PASSED.items()))
            fields.append(field)
        line = draw.choice(STATUS_LINES) if draw.random() < 0.6 else STATUS_LINES[0]
        if draw.random() < 0.05:
            line, note = NO_HTTP
        framing, body = draw.choice(bodies(b"body of %d" % number))
        lines = [line, b"Content-Type: text/plain", *fields]
        head = b"".join(line + b"\r\n" for line in lines) + framing + b"\r\n"
        if draw.random() < 0.1:
            head = head.replace(b"\r\n", b"\n")
        made[f"a{number}"] = (head + body, note)
    return made


@contextmanager
def serving(made: dict[str, bytes]) -> Iterator[int]:
    """The port of a server that answers each request with these bytes, and closes."""

    def answer(client: socket.socket) -> None:
        with client:
            asked = b""
            while b"\r\n\r\n" not in asked:
                if not (read := client.recv(65_536)):
                    return
                asked += read
            name = asked.split(b" ")[1].decode("ascii").rsplit("/", 1)[-1]
            client.sendall(made.get(name, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))

    def accept(server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)


LOOK = """async (names) => {
  const look = async (name) => {
    try {
      const answer = await fetch('/' + name, { cache: 'no-store' });
      const fields = [...answer.headers].filter(([name]) => /^x-|^content-type/.test(name));
      return [answer.status, await answer.text(), fields];
    } catch {
      return null;
    }
  };
  const seen = {};
  for (const name of names) seen[name] = await look(name);
  return seen;
}"""


def seen(browser: Any, origin: str, names: list[str], **context: Any) -> dict[str, Any]:
    """Return what a page's script reads of each answer; None for an answer that it does not get."""
    with browser.new_context(**context) as opened:
        page = opened.new_page()
        page.goto(origin)
        found: dict[str, Any] = page.evaluate(LOOK, names)
        return found


def test_a_page_sees_the_same_through_the_recorder(labs: None, tmp_path: Path) -> None:
    made, out = generated(), tmp_path / "odd.wacz"
    wire = {name: answer for name, (answer, _) in made.items()}
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n<p>page\n"
    with serving({**wire, "": page}) as port, chromium_of_playwright() as browser:
        origin = f"http://127.0.0.1:{port}/"
        directly = seen(browser, origin, list(wire))
        with Recorder(out, port=0, allow=[f"127.0.0.1:{port}"]) as recorder:
            name, password = str(recorder.credentials).split(":")
            proxy = {"server": f"http://{recorder.address}", "bypass": "<-loopback>"}
            proxy |= {"username": name, "password": password}
            through = seen(browser, origin, list(wire), proxy=proxy)
            info = recorder.write()["info"]
    left_out = info["provenance"]["left_out"]
    recorded = answers(out, tmp_path)
    passed = [name for name in wire if directly[name] is not None]
    assert len(passed) > COUNT / 2
    for name, (answer, note) in made.items():
        url = f"{origin}{name}"
        notes = [
            sentence for sentence in left_out if f"{url}:" in sentence or f"{url} " in sentence
        ]
        if note and directly[name] is not None:
            assert any(note in sentence for sentence in notes), (answer[:300], notes)
            continue
        if directly[name] is None:
            # The recorder says what a page without it is not told.
            assert through[name] is None or through[name][0] == BAD_GATEWAY, answer[:300]
            assert url not in recorded and notes, answer[:300]
            continue
        assert through[name] == directly[name], (answer[:300], notes)
        status, text, _ = directly[name]
        # A HAR has what is not said to be in UTF-8 in base64.
        spelled = (text, base64.b64encode(text.encode()).decode())
        assert url in recorded and recorded[url][0] == status and recorded[url][2] in spelled, (
            answer[:300],
            notes,
        )
