"""An HTTP/3 server on aioquic that answers 204 and stores sessions; a process of its own.

`python aioquic_server.py [--retry]`: with `--retry` it validates each client's address (RFC 9000,
section 8.1.2), which costs a round trip. It imports nothing of eyelevel.
"""

import asyncio
import os
import sys

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent
from aioquic.tls import SessionTicket

PORT = 443


class Answering(QuicConnectionProtocol):
    """One connection, which answers every request."""

    http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Handle an event of the connection."""
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for http_event in self.http.handle_event(event):
            if isinstance(http_event, HeadersReceived):
                self.http.send_headers(
                    http_event.stream_id, [(b":status", b"204")], end_stream=True
                )
                self.transmit()


async def main(*options: str) -> None:
    """Serve until the lab ends."""
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    certificate, key = os.environ["EYELEVEL_CERTIFICATE"], os.environ["EYELEVEL_KEY"]
    configuration.load_cert_chain(certificate, key)
    tickets: dict[bytes, SessionTicket] = {}

    def keep(ticket: SessionTicket) -> None:
        tickets[ticket.ticket] = ticket

    # One socket per address: responses from a wildcard socket would have another source address.
    for address in os.environ["EYELEVEL_ADDRESSES"].split():
        await serve(
            address,
            PORT,
            configuration=configuration,
            create_protocol=Answering,
            session_ticket_fetcher=lambda name: tickets.pop(name, None),
            session_ticket_handler=keep,
            retry="--retry" in options,
        )
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
