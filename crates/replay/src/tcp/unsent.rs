use super::options::{is_writable, not_sent_bytes};
use crate::scheduler::Gate;
use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// The unsent bytes of a connection for its gate: those in the socket, and those above it that the
/// socket did not accept.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    /// Bytes of the last write that the kernel did not accept: the writer holds them.
    refused: usize,
}

impl Unsent {
    /// Records how much of a write was accepted.
    pub fn on_written(&mut self, requested: usize, taken: usize) {
        self.refused = requested.saturating_sub(taken);
    }

    /// Reports the unsent bytes; if they leave no room for another chunk, the task is woken once
    /// they do.
    pub fn report_to(&self, stream: &TcpStream, gate: &Gate, context: &mut Context<'_>) {
        let threshold = gate.room().threshold_bytes();
        // Repeats if the kernel sent something between reading and polling.
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

/// Returns ready if the kernel reports the socket as writable, else the task is woken when it does.
fn poll_little_unsent(stream: &TcpStream, context: &mut Context<'_>) -> Poll<()> {
    // tokio assumes that a socket is writable until a call reports otherwise.
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
