//! A UDP socket without ECN (RFC 9000, section 13.4): noq-proto 1.4 sends ECT(0) on every path and
//! has no setting against it.

use noq::udp::{RecvMeta, Transmit};
use noq::{AsyncUdpSocket, UdpSender};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A socket that sends every datagram as Not-ECT and hides the marks of received ones, so that
/// acknowledgements count no marks either.
#[derive(Debug)]
pub(super) struct WithoutMarks(pub Box<dyn AsyncUdpSocket>);

impl AsyncUdpSocket for WithoutMarks {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        Box::pin(UnmarkedSender(self.0.create_sender()))
    }

    fn poll_recv(
        &mut self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        received: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let polled = self.0.poll_recv(context, buffers, received);
        if let Poll::Ready(Ok(count)) = polled {
            for meta in &mut received[..count] {
                meta.ecn = None;
            }
        }
        polled
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        self.0.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.0.may_fragment()
    }
}

#[derive(Debug)]
struct UnmarkedSender(Pin<Box<dyn UdpSender>>);

impl UdpSender for UnmarkedSender {
    fn poll_send(
        mut self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let unmarked = Transmit {
            destination: transmit.destination,
            ecn: None,
            contents: transmit.contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        self.0.as_mut().poll_send(&unmarked, context)
    }

    fn max_transmit_segments(&self) -> NonZeroUsize {
        self.0.max_transmit_segments()
    }
}
