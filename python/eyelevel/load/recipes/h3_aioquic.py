"""aioquic with the site of a lab: HTTP/3 alone. Needs `pip install aioquic` in its Python."""

import asyncio
import os
from pathlib import Path

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent

FILES = Path(os.environ["EYELEVEL_FILES"])


Fields = list[tuple[bytes, bytes]]


def answers() -> dict[str, tuple[Path, Fields]]:
    """The file and head of each URL without its scheme, and of each path for other queries."""
    fields: dict[str, Fields] = {}
    for line in Path(os.environ["EYELEVEL_FIELDS"]).read_text("utf-8").split("\n")[:-1]:
        file, name, value = line.split("\t")
        fields.setdefault(file, []).append((name.lower().encode(), value.encode()))
    found: dict[str, tuple[Path, Fields]] = {}
    for line in Path(os.environ["EYELEVEL_ANSWERS"]).read_text("utf-8").split("\n")[:-1]:
        host, target, file, _, status, size = line.split("\t")
        head = [(b":status", status.encode()), *fields.get(file, [])]
        if status != "204":
            head.append((b"content-length", size.encode()))
        answer = (FILES / file, head)
        found[host + target] = answer
        found.setdefault(host + target.split("?")[0], answer)
    return found


ANSWERS = answers()


class Site(QuicConnectionProtocol):
    """One connection."""

    http: H3Connection | None = None
    host = ""
    """Whom the connection was opened for: its first request's."""

    def quic_event_received(self, event: QuicEvent) -> None:
        """Take what came from the client."""
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is not None:
            for each in self.http.handle_event(event):
                self.answer(each)

    def answer(self, event: H3Event) -> None:
        """Answer a request with its file."""
        if not isinstance(event, HeadersReceived) or self.http is None:
            return
        fields = dict(event.headers)
        host = fields[b":authority"].decode().split(":")[0]
        target = fields[b":path"].decode()
        self.host = self.host or host
        found = ANSWERS.get(host + target) or ANSWERS.get(host + target.split("?")[0])
        body = found[0].read_bytes() if found else b""
        head = [*found[1]] if found else [(b":status", b"404"), (b"content-length", b"0")]
        if host == self.host:
            # Else Chromium does not know that the host heeds priorities, and holds images back.
            head.append((b"alt-svc", b'h3=":443"'))
        self.http.send_headers(event.stream_id, head)
        self.http.send_data(event.stream_id, body, end_stream=True)
        self.transmit()


async def main() -> None:
    """Serve until the lab ends."""
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    certificate, key = os.environ["EYELEVEL_CERTIFICATE"], os.environ["EYELEVEL_KEY"]
    configuration.load_cert_chain(certificate, key)
    # Each address has a socket: a wildcard's answers would leave from another address than the one
    # that was asked.
    for address in os.environ["EYELEVEL_ADDRESSES"].split():
        await serve(address, 443, configuration=configuration, create_protocol=Site)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
