//! A bulk transfer: one end sends endlessly, the other counts.

use super::config::{CrossTrafficConfig, FlowDirection};
use super::meter::Meters;
use socket2::Socket;
use std::io::{Read, Write};
use std::net::SocketAddr;

/// The size of a write, so large that the system call costs little compared with its packets.
const BUFFER_BYTES: usize = 256 << 10;

/// A transfer of a lab.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// The position in the lab's list.
    pub number: usize,
    /// The kind of transfer.
    pub kind: CrossTrafficConfig,
}

impl Flow {
    /// Runs the second server's end. After a broken connection its count stays.
    pub fn serve(self, (socket, _): (Socket, SocketAddr), meters: &Meters) {
        if let Ok((connection, _)) = socket.accept() {
            match self.kind.direction {
                FlowDirection::Down => send(connection),
                FlowDirection::Up => self.receive(connection, meters),
            }
        }
    }

    /// Runs the second client's end, which connects.
    pub fn fetch(self, (socket, target): (Socket, SocketAddr), meters: &Meters) {
        if socket.connect(&target.into()).is_ok() {
            match self.kind.direction {
                FlowDirection::Down => self.receive(socket, meters),
                FlowDirection::Up => send(socket),
            }
        }
    }

    fn receive(self, mut connection: Socket, meters: &Meters) {
        let meter = &meters.flows[self.number];
        meter.begin();
        let mut buffer = vec![0; BUFFER_BYTES];
        while let Ok(count @ 1..) = connection.read(&mut buffer) {
            meter.add(count as u64);
        }
    }
}

fn send(mut connection: Socket) {
    let buffer = vec![0; BUFFER_BYTES];
    while connection.write_all(&buffer).is_ok() {}
}
