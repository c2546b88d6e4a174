//! A network namespace with loopback alone, and what leads out of it: one listener, or devices that
//! its maker adds.

use crate::pass::{receive, send};
use crate::sandbox::{self, Forked, Inside};
use crate::{Error, Netlink};
use std::io::{self, Read};
use std::mem;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Nobody answers there: names are the listener's business.
const RESOLV_CONF: &str = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// Namespaces from which nothing but a listener is reached.
#[derive(Debug)]
pub struct LoopbackOnly {
    /// For [`crate::enter`]: the process that keeps the namespaces. All of it ends with the caller.
    pub init_pid: u32,
    /// On the namespace's 127.0.0.1, held by the caller, who stands outside: no process outside of
    /// the namespace can connect to it, whichever user's it is.
    pub listener: TcpListener,
}

/// Makes namespaces as [`sandbox::spawn`] does, with loopback as their only device, and takes a
/// listener out of them. The caller must have no second thread yet.
///
/// # Errors
/// Where the kernel refuses the namespaces, with the remedy for unprivileged users.
pub fn loopback_only() -> Result<LoopbackOnly, Error> {
    let listen = || {
        begin(RESOLV_CONF, HOSTS)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.map_err(|e| Error::new("listen on loopback", e))?;
        Ok(Some(listener))
    };
    match enclose(listen)? {
        (init_pid, Some(descriptor)) => Ok(LoopbackOnly {
            init_pid,
            listener: TcpListener::from(descriptor),
        }),
        (_, None) => Err(failed(io::Error::other("it was not handed out"))),
    }
}

/// Makes such namespaces for a caller that gives them devices itself. Returns the process that
/// keeps them. The caller must have no second thread yet.
///
/// # Errors
/// As [`loopback_only`].
pub fn without_devices(resolv_conf: &str, hosts: &str) -> Result<u32, Error> {
    let (init_pid, _) = enclose(|| begin(resolv_conf, hosts).map(|()| None))?;
    Ok(init_pid)
}

fn failed(error: io::Error) -> Error {
    Error::new("take a listener out of its namespace", error)
}

/// What `work` does inside of new namespaces, which end with the caller: their process 1 and the
/// descriptor that `work` hands out.
fn enclose(
    work: impl FnOnce() -> Result<Option<TcpListener>, Error>,
) -> Result<(u32, Option<OwnedFd>), Error> {
    let (outside, inside) = UnixStream::pair().map_err(failed)?;
    match sandbox::spawn()? {
        Forked::Init(namespaces) => {
            drop(outside);
            std::process::exit(keep(&namespaces, inside, work))
        }
        Forked::Supervisor(_) => {
            drop(inside);
            let (message, descriptor) = receive(&outside).map_err(failed)?;
            let text = String::from_utf8_lossy(&message).into_owned();
            let init_pid = text.parse().map_err(|_| failed(io::Error::other(text)))?;
            // The namespaces' process waits for the other end to be closed, which this process's
            // end does.
            mem::forget(outside);
            Ok((init_pid, descriptor))
        }
    }
}

/// Process 1 of the namespaces, until the other end of `outside` is closed.
fn keep(
    namespaces: &Inside,
    mut outside: UnixStream,
    work: impl FnOnce() -> Result<Option<TcpListener>, Error>,
) -> i32 {
    let sent = match work() {
        Ok(listener) => {
            let pid = namespaces.outer_pid.to_string();
            send(&outside, pid.as_bytes(), listener.as_ref().map(AsFd::as_fd))
        }
        Err(error) => send(&outside, error.to_string().as_bytes(), None),
    };
    if sent.is_err() {
        return 1;
    }
    let _ = outside.read(&mut [0]);
    0
}

fn begin(resolv_conf: &str, hosts: &str) -> Result<(), Error> {
    sandbox::isolate_files(resolv_conf, hosts)?;
    let mut netlink = Netlink::open()?;
    let loopback = netlink.link_index("lo")?;
    netlink.set_up(loopback, None)
}
