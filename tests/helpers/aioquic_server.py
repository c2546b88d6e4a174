"""An HTTP/3 server on aioquic that answers 204 and keeps sessions; a process of its own.

python aioquic_server.py CERTIFICATE KEY [--retry]
"""

import asyncio
import sys
from typing import Any

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent
from aioquic.tls import SessionTicket

ADDRESS, PORT = "::", 443
LISTENING = "listening"


class Answering(QuicConnectionProtocol):
    http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for said in self.http.handle_event(event):
            if isinstance(said, HeadersReceived):
                self.http.send_headers(said.stream_id, [(b":status", b"204")], end_stream=True)
                self.transmit()


async def main(certificate: str, key: str, *options: str) -> None:
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(certificate, key)
    tickets: dict[bytes, Any] = {}

    def keep(ticket: SessionTicket) -> None:
        tickets[ticket.ticket] = ticket

    await serve(
        ADDRESS,
        PORT,
        configuration=configuration,
        create_protocol=Answering,
        session_ticket_fetcher=lambda name: tickets.pop(name, None),
        session_ticket_handler=keep,
        retry="--retry" in options,
    )
    print(LISTENING, flush=True)
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
