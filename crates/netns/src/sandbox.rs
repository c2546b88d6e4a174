//! The namespaces of one lab and the process 1 inside them.

use crate::Error;
use crate::capabilities::{is_privileged, may_map_root};
use crate::error::check;
use rustix::io::retry_on_intr;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount,
};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getegid, geteuid, kill_process,
    set_parent_process_death_signal, waitpid,
};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

/// The side of [`spawn`]'s fork.
pub enum Forked {
    /// Outside: the process id of the lab's process 1.
    Supervisor(i32),
    /// Inside, as process 1 in the client's namespaces.
    Init(Inside),
}

pub(crate) const USER_NAMESPACE_REMEDY: &str = "run as root, or allow user namespaces: \
    sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 \
    kernel.apparmor_restrict_unprivileged_userns=0";

const ROOT_REMEDY: &str = "root without CAP_SETFCAP cannot be mapped: be an ordinary user, \
    in a container --user 1000:1000, or add SETFCAP";

/// What process 1 needs to know about itself.
pub struct Inside {
    /// Its process id outside, for `setns`.
    pub outer_pid: u32,
    /// Whether a user namespace was needed, because the caller lacks a capability.
    pub user_namespace: bool,
}

/// Clones process 1 of a lab into new process, mount and network namespaces: directly if the
/// caller's capabilities suffice, else inside a user namespace in which it is root. The caller must
/// have no second thread yet.
///
/// # Errors
///
/// Fails if the kernel refuses the namespaces, with the remedy for callers without capabilities.
pub fn spawn() -> Result<Forked, Error> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let user_namespace = !is_privileged();
    let mut flags =
        libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWUTS;
    if user_namespace {
        check_root_can_be_mapped(user)?;
        flags |= libc::CLONE_NEWUSER;
    }
    let pid =
        fork(flags, "create the lab's namespaces").map_err(|e| e.remedy(USER_NAMESPACE_REMEDY))?;
    if pid > 0 {
        return Ok(Forked::Supervisor(pid));
    }
    die_with_parent()?;
    // The old /proc still shows the outer process ids.
    let outer_pid = fs::read_link("/proc/self")
        .ok()
        .and_then(|path| path.to_str()?.parse().ok())
        .ok_or_else(|| Error::new("read /proc/self", io::ErrorKind::InvalidData))?;
    if user_namespace {
        map_to_root(user, group)?;
    }
    reap_orphans();
    Ok(Forked::Init(Inside {
        outer_pid,
        user_namespace,
    }))
}

/// Moves the calling thread into a new network namespace; threads that it starts follow it.
pub fn unshare_network() -> Result<(), Error> {
    unshare(
        UnshareFlags::NEWNET,
        "create the server's network namespace",
    )
}

/// Moves the calling thread into new namespaces; a user namespace requires a process with one
/// thread.
pub(crate) fn unshare(namespaces: UnshareFlags, attempt: &str) -> Result<(), Error> {
    // SAFETY: only namespaces are unshared; the thread keeps sharing the table of descriptors.
    unsafe { unshare_unsafe(namespaces) }.map_err(|e| Error::new(attempt, e))
}

/// Forks into new namespaces. The process must have one thread.
pub(crate) fn fork(namespaces: libc::c_int, attempt: &str) -> Result<i32, Error> {
    let flags = namespaces | libc::SIGCHLD;
    // SAFETY: clone without a new stack behaves as fork.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as i32;
    check(pid, || attempt.into())
}

/// Creates a network namespace without a process, which exists as long as the file is open.
///
/// # Errors
///
/// Fails if the kernel refuses it.
pub fn new_network_namespace() -> Result<fs::File, Error> {
    let own = || {
        unshare_network()?;
        fs::File::open("/proc/thread-self/ns/net")
            .map_err(|error| Error::new("open a new network namespace", error))
    };
    std::thread::spawn(own).join().unwrap_or_else(|_| {
        let error = io::Error::other("a panic, reported above");
        Err(Error::new("create a network namespace", error))
    })
}

/// Runs `work` in another network namespace, in a temporary thread.
///
/// # Errors
///
/// Fails if the namespace cannot be joined, or with the error of `work`.
pub fn in_network_namespace<T: Send>(
    namespace: &fs::File,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let join = || {
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), kind)
                .map_err(|e| Error::new("join a network namespace", e))?;
            work()
        };
        scope.spawn(join).join().unwrap_or_else(|_| {
            let error = io::Error::other("a panic, reported above");
            Err(Error::new("work in a network namespace", error))
        })
    })
}

/// Gives the lab its own view of `/proc` and a resolver configuration with only the lab's resolver.
/// Nothing outside the mount namespace changes.
///
/// `resolv_conf` and `hosts` are the new files' contents; `nsswitch.conf` is replaced too, so that
/// neither a host's own names nor its resolver daemon (a socket in the file system, which a network
/// namespace does not cut off) can answer.
pub fn isolate_files(resolv_conf: &str, hosts: &str) -> Result<(), Error> {
    let over = |target: &str| format!("mount over {target}");
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).map_err(|e| Error::new(over("/"), e))?;
    // A temporary file system over /proc holds the files until they are bound to their places:
    // nothing is created on the host's disk, so nothing can be left behind.
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", "/proc", "tmpfs", plain, None).map_err(|e| Error::new(over("/proc"), e))?;
    let files = [
        ("resolv.conf", resolv_conf),
        ("hosts", hosts),
        ("nsswitch.conf", "hosts: files dns\n"),
    ];
    for (name, text) in files {
        let source = format!("/proc/{name}");
        let target = format!("/etc/{name}");
        fs::write(&source, text).map_err(|e| Error::new(format!("write {source}"), e))?;
        // A missing file means the resolver's default, which is the same local address.
        if Path::new(&target).exists() {
            mount_bind(&source, &target).map_err(|e| Error::new(over(&target), e))?;
        }
    }
    // Detaching leaves the bound files in place.
    unmount("/proc", UnmountFlags::DETACH).map_err(|e| Error::new("unmount /proc", e))?;
    // If the host hides parts of /proc, a new one is refused; the old one then stays, and commands
    // inside see the host's process list.
    let _ = mount("proc", "/proc", "proc", plain | MountFlags::NOEXEC, None);
    Ok(())
}

/// Forwards SIGINT and SIGTERM to process 1, so that it can end in order, and waits for it.
pub fn supervise(pid: i32) -> Result<i32, Error> {
    forward_signals_to(pid);
    wait_for(pid)
}

/// Forwards SIGINT and SIGTERM to a child from now on.
pub(crate) fn forward_signals_to(pid: i32) {
    SUPERVISED.store(pid, Ordering::Relaxed);
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only loads an atomic and calls kill, both async-signal-safe.
        unsafe { libc::signal(signal, forward_signal as *const () as libc::sighandler_t) };
    }
}

/// The process that signals are forwarded to; 0 before there is one.
static SUPERVISED: AtomicI32 = AtomicI32::new(0);

extern "C" fn forward_signal(signal: libc::c_int) {
    let pid = SUPERVISED.load(Ordering::Relaxed);
    if pid > 0 {
        kill_child(pid, signal);
    }
}

/// Sends a signal to a child that has not been waited for. Usable in a handler, since it is only a
/// system call and preserves `errno` for the interrupted code (signal-safety(7)).
pub(crate) fn kill_child(pid: i32, signal: libc::c_int) {
    if let (Some(pid), Some(signal)) = (Pid::from_raw(pid), Signal::from_named_raw(signal)) {
        let _ = kill_process(pid, signal);
    }
}

/// Waits for process 1 to end. Returns its exit status, or 128 plus the signal that ended it.
pub fn wait_for(pid: i32) -> Result<i32, Error> {
    match retry_on_intr(|| waitpid(Pid::from_raw(pid), WaitOptions::empty())) {
        Ok(ended) => Ok(ended.map_or(0, |(_, status)| exit_status(status))),
        Err(error) => Err(Error::new("wait for the lab", error)),
    }
}

/// Returns a waited-for child's exit status, or 128 plus the signal that ended it.
pub(crate) fn exit_status(status: WaitStatus) -> i32 {
    let by_signal = || 128 + status.terminating_signal().unwrap_or_default();
    status.exit_status().unwrap_or_else(by_signal)
}

/// Ends the calling process when the thread that started it ends, however that happens.
pub(crate) fn die_with_parent() -> Result<(), Error> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|e| Error::new("bind this process's life to its parent's", e))
}

/// Ignores the death of orphans, which process 1 inherits, so that the kernel reaps them.
fn reap_orphans() {
    // SAFETY: SIG_IGN is a valid disposition.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Fails with a clear reason before the kernel's bare refusal: mapping root requires more than
/// mapping another user.
pub(crate) fn check_root_can_be_mapped(user: u32) -> Result<(), Error> {
    if user != 0 || may_map_root() {
        return Ok(());
    }
    let error = io::ErrorKind::PermissionDenied;
    Err(Error::new("make a user namespace as root", error).remedy(ROOT_REMEDY))
}

pub(crate) fn map_to_root(user: u32, group: u32) -> Result<(), Error> {
    for (file, line) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), line)
            .map_err(|e| Error::new(format!("write /proc/self/{file}"), e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_preserves_errno() {
        // No process has this number (PID_MAX_LIMIT is 2^22), so that kill fails with ESRCH.
        let (nobody, before) = (i32::MAX, libc::EINTR);
        // SAFETY: `errno` is this thread's own.
        unsafe { *libc::__errno_location() = before };
        kill_child(nobody, libc::SIGTERM);
        assert_eq!(io::Error::last_os_error().raw_os_error(), Some(before));
    }
}
