"""aioquic with the site of a lab: HTTP/3 alone. Needs `pip install aioquic` in its Python."""

import asyncio
import os
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent

FILES = Path(os.environ["EYELEVEL_FILES"])


def answers() -> dict[str, tuple[Path, str]]:
    """The file and type of each URL without its scheme, and of each path for other queries."""
    found: dict[str, tuple[Path, str]] = {}
    for line in Path(os.environ["EYELEVEL_ANSWERS"]).read_text("utf-8").splitlines():
        host, target, file, kind = line.split("\t")
        answer = (FILES / file, kind)
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
        file, kind = found or (None, "text/plain")
        body = file.read_bytes() if file else b""
        head = [
            (b":status", b"200" if file else b"404"),
            (b"content-type", kind.encode()),
            (b"access-control-allow-origin", b"*"),
            (b"content-length", str(len(body)).encode()),
        ]
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
