//! Sends and receives a connection's datagrams, each with its time.

use super::connection::{DATAGRAM_BYTES_MAX, Driver, PACKET_BYTES};
use super::packets::{to_version1, versions_offered};
use crate::kernel;
use bytes::BytesMut;
use noq_proto::{DatagramEvent, FourTuple};
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::time::Instant;
use tokio::io::Interest;

/// The most datagrams that the library may write before they are sent.
const DATAGRAMS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(10).unwrap();
/// The most batches per turn, more than the flights of any handshake have.
const BATCHES_MAX: usize = 32;
/// The most datagrams read before the connection gets its turn.
const READS_MAX: usize = 32;

impl Driver<'_> {
    /// Sends the datagrams that are ready, one per system call.
    ///
    /// Several datagrams are requested at once although each is sent by itself: a close is sent at
    /// two levels of encryption, the padded first of them fills a datagram, and a library that may
    /// write only one would repeat that one endlessly. The limit keeps any such error finite.
    pub(super) fn transmit(&mut self) -> io::Result<()> {
        let mut batch = Vec::with_capacity(DATAGRAMS_AT_ONCE.get() * usize::from(PACKET_BYTES));
        for _ in 0..BATCHES_MAX {
            batch.clear();
            let now = Instant::now();
            let Some(transmit) =
                (self.connection).poll_transmit(now, DATAGRAMS_AT_ONCE, &mut batch)
            else {
                return Ok(());
            };
            let datagram_bytes = transmit.segment_size.unwrap_or(transmit.size).max(1);
            for datagram in batch[..transmit.size].chunks(datagram_bytes) {
                let at_ns = kernel::monotonic_ns();
                match self.attempt.socket.try_send(datagram) {
                    // A full buffer loses the datagram, as a network does; QUIC recovers.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    result => drop(result?),
                }
                self.outcome.timeline.sent(at_ns, datagram.len());
                if self.request.is_some() {
                    self.outcome.first_request_byte_ns.get_or_insert(at_ns);
                }
            }
        }
        Err(io::Error::other("the QUIC library did not cease to send"))
    }

    pub(super) fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; DATAGRAM_BYTES_MAX as usize];
        for _ in 0..READS_MAX {
            let socket = &self.attempt.socket;
            let read = socket.try_io(Interest::READABLE, || {
                kernel::receive(socket.as_fd(), &mut buffer)
            });
            let received = match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                result => result?,
            };
            let began_ns = kernel::monotonic_ns();
            let (at_ns, read_ns) = (received.at_ns, received.read_ns);
            let timeline = &mut self.outcome.timeline;
            timeline.received(at_ns, read_ns, received.bytes);
            let mut datagram = BytesMut::from(&buffer[..received.bytes]);
            if let Some(versions) = versions_offered(&datagram) {
                self.outcome.versions = Some(versions);
            }
            to_version1(&mut datagram);
            self.handle_datagram(datagram);
            self.last = Some((received, kernel::monotonic_ns() - began_ns));
            self.note_progress();
        }
        Ok(())
    }

    fn handle_datagram(&mut self, datagram: BytesMut) {
        let path = FourTuple::from(self.attempt.address);
        let mut answer = Vec::new();
        let event = self
            .endpoint
            .handle(Instant::now(), path, None, datagram, &mut answer);
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
            self.connection.handle_event(event);
        }
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
    }

    /// Records the datagram that ends the handshake: its arrival, and the processing time.
    fn note_progress(&mut self) {
        // A handshake that failed is over, too, and has no time.
        if !self.connection.is_handshaking()
            && !self.connection.is_closed()
            && self.outcome.completing.is_none()
            && let Some((received, took_ns)) = self.last
        {
            self.outcome.timeline.complete(received.at_ns + took_ns);
            self.outcome.completing = Some(received);
        }
    }
}
