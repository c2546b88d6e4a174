//! Connections from inside a lab to one address outside: a process that stayed outside connects, and
//! passes the socket in. No other address can be reached.

use crate::Error;
use crate::pass::{receive, send};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// On one machine a connection takes microseconds, unless nobody accepts any more.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The end inside of the lab.
#[derive(Debug)]
pub struct Dialer(Mutex<UnixStream>);

/// The end outside of the lab; the process inside drops it.
#[derive(Debug)]
pub struct Switchboard {
    outside: UnixStream,
    address: SocketAddr,
}

/// Makes both ends, before the process forks.
///
/// # Errors
/// Where the kernel refuses a pair of sockets.
pub fn dial_out(address: SocketAddr) -> Result<(Dialer, Switchboard), Error> {
    let (inside, outside) =
        UnixStream::pair().map_err(|error| Error::new("make a pair of sockets", error))?;
    let switchboard = Switchboard { outside, address };
    Ok((Dialer(Mutex::new(inside)), switchboard))
}

impl Switchboard {
    /// Starts a thread that connects at each request, until the other end is closed.
    pub fn start(mut self) {
        thread::spawn(move || {
            while matches!(self.outside.read(&mut [0]), Ok(1)) {
                let sent = match TcpStream::connect_timeout(&self.address, CONNECT_TIMEOUT) {
                    Ok(stream) => send(&self.outside, b"ok", Some(stream.as_fd())),
                    Err(error) => send(&self.outside, error.to_string().as_bytes(), None),
                };
                if sent.is_err() {
                    return;
                }
            }
        });
    }
}

impl Dialer {
    /// Opens a connection; blocks until it is established.
    ///
    /// # Errors
    /// If the connection was refused, or the switchboard has ended.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let mut asking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asking.write_all(&[1])?;
        match receive(&asking)? {
            (_, Some(descriptor)) => Ok(TcpStream::from(descriptor)),
            (text, None) if text.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            (text, None) => Err(io::Error::other(
                String::from_utf8_lossy(&text).into_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn each_call_gives_a_connection_to_the_one_address() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (dialer, switchboard) = dial_out(listener.local_addr().unwrap()).unwrap();
        switchboard.start();
        for _ in 0..2 {
            let mut ours = dialer.connect().unwrap();
            let (mut theirs, _) = listener.accept().unwrap();
            ours.write_all(b"x").unwrap();
            let mut got = [0];
            theirs.read_exact(&mut got).unwrap();
            assert_eq!(&got, b"x");
        }
    }

    #[test]
    fn a_refusal_and_an_end_that_is_gone_are_errors() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let (dialer, switchboard) = dial_out(address).unwrap();
        switchboard.start();
        let refused = dialer.connect().unwrap_err().to_string();
        assert!(refused.contains("refused"), "{refused}");
        let (dialer, switchboard) = dial_out(address).unwrap();
        drop(switchboard);
        assert!(dialer.connect().is_err());
    }
}
