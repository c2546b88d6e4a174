use super::options::{is_writable, not_sent_bytes};
use crate::scheduler::Gate;
use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Tells a connection's gate what of its bytes is not sent: in the socket, and above it what the
/// socket did not take.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    /// Bytes of the last write that the kernel did not take: whoever wrote them holds them.
    refused: usize,
}

impl Unsent {
    /// So much of a write was taken.
    pub fn on_written(&mut self, asked: usize, taken: usize) {
        self.refused = asked.saturating_sub(taken);
    }

    /// Where what waits leaves no room for another chunk, the task is woken once it does.
    pub fn tell(&self, stream: &TcpStream, gate: &Gate, context: &mut Context<'_>) {
        let threshold = gate.room().threshold_bytes();
        // Again where the kernel sent something between the look and the question.
        for _ in 0..2 {
            let Ok(bytes) = not_sent_bytes(stream) else {
                return;
            };
            gate.on_unsent(bytes + self.refused);
            let is_little = threshold.is_none_or(|most| bytes <= most);
            if is_little || poll_little_unsent(stream, context).is_pending() {
                return;
            }
        }
    }
}

/// Ready where the kernel calls the socket writable, else the task is woken when it does.
fn poll_little_unsent(stream: &TcpStream, context: &mut Context<'_>) -> Poll<()> {
    // tokio takes a socket for writable until somebody says that it is not.
    let look = || match is_writable(stream) {
        true => Ok(()),
        false => Err(io::ErrorKind::WouldBlock.into()),
    };
    loop {
        if ready!(stream.poll_write_ready(context)).is_err()
            || stream.try_io(Interest::WRITABLE, look).is_ok()
        {
            return Poll::Ready(());
        }
    }
}
