//! A network namespace with only loopback, whose only way out is one listener, or devices that its
//! creator adds.

use crate::pass::{receive, send};
use crate::sandbox::{self, Forked, Inside};
use crate::{Error, Netlink};
use std::io::{self, Read};
use std::mem;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// A resolver configuration without a server behind it: clients of the listener resolve no names.
const RESOLV_CONF: &str = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// Namespaces from which only a listener is reachable.
#[derive(Debug)]
pub struct LoopbackOnly {
    /// The process that keeps the namespaces, for [`crate::enter`]. Everything in them ends with
    /// the caller.
    pub init_pid: u32,
    /// A listener on the namespace's 127.0.0.1, held by the caller, who is outside: no process
    /// outside the namespace can connect to it, whichever user's it is.
    pub listener: TcpListener,
}

/// Creates namespaces like [`sandbox::spawn`], with loopback as their only device, and returns a
/// listener in them. The caller must have no second thread yet.
///
/// # Errors
///
/// Fails if the kernel refuses the namespaces, with the remedy for unprivileged users.
pub fn create_loopback_only() -> Result<LoopbackOnly, Error> {
    let listen = || {
        set_up(RESOLV_CONF, HOSTS)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.map_err(|e| Error::new("listen on loopback", e))?;
        Ok(Some(listener))
    };
    match enclose(listen)? {
        (init_pid, Some(descriptor)) => Ok(LoopbackOnly {
            init_pid,
            listener: TcpListener::from(descriptor),
        }),
        (_, None) => Err(describe_failure(io::Error::other("it was not handed out"))),
    }
}

/// Creates such namespaces for a caller that adds devices itself. Returns the process that keeps
/// them. The caller must have no second thread yet.
///
/// # Errors
///
/// Fails like [`loopback_only`].
pub fn create_without_devices(resolv_conf: &str, hosts: &str) -> Result<u32, Error> {
    let (init_pid, _) = enclose(|| set_up(resolv_conf, hosts).map(|()| None))?;
    Ok(init_pid)
}

fn describe_failure(error: io::Error) -> Error {
    Error::new("take a listener out of its namespace", error)
}

/// Runs `work` inside new namespaces, which end with the caller. Returns their process 1 and the
/// descriptor that `work` returns.
fn enclose(
    work: impl FnOnce() -> Result<Option<TcpListener>, Error>,
) -> Result<(u32, Option<OwnedFd>), Error> {
    let (outside, inside) = UnixStream::pair().map_err(describe_failure)?;
    match sandbox::spawn()? {
        Forked::Init(namespaces) => {
            drop(outside);
            std::process::exit(run_init(&namespaces, inside, work))
        }
        Forked::Supervisor(_) => {
            drop(inside);
            let (message, descriptor) = receive(&outside).map_err(describe_failure)?;
            let text = String::from_utf8_lossy(&message).into_owned();
            let init_pid = text
                .parse()
                .map_err(|_| describe_failure(io::Error::other(text)))?;
            // The namespaces' process waits until the other end closes, which happens when this
            // process ends.
            mem::forget(outside);
            Ok((init_pid, descriptor))
        }
    }
}

/// Runs process 1 of the namespaces, until the other end of `outside` is closed.
fn run_init(
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

fn set_up(resolv_conf: &str, hosts: &str) -> Result<(), Error> {
    sandbox::isolate_files(resolv_conf, hosts)?;
    let mut netlink = Netlink::open()?;
    let loopback = netlink.link_index("lo")?;
    netlink.set_up(loopback, None)
}
