"""A server as those for the QUIC interop runner are: it knows its folders and nothing of labs."""

import asyncio
import os
from pathlib import Path

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent


class Endpoint(QuicConnectionProtocol):
    """One connection."""

    http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answer each request with the file of its path."""
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for each in self.http.handle_event(event):
            if isinstance(each, HeadersReceived):
                path = dict(each.headers)[b":path"].decode()
                file = Path("/www") / path.removeprefix("/")
                status, body = (b"200", file.read_bytes()) if file.is_file() else (b"404", b"")
                self.http.send_headers(each.stream_id, [(b":status", status)])
                self.http.send_data(each.stream_id, body, end_stream=True)
                self.transmit()


async def main() -> None:
    """Serve as long as the runner lets it."""
    assert (os.environ["ROLE"], os.environ["TESTCASE"]) == ("server", "http3")
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain("/certs/cert.pem", "/certs/priv.key")
    await serve("::", 443, configuration=configuration, create_protocol=Endpoint)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
