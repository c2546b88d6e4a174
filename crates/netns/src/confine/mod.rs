//! Confines programs that may be hostile (a browser with an untrusted page, a third-party server):
//! they run as a separate user, in separate namespaces, with only a view of the system.
//!
//! There are three processes: the caller waits; process 1 of the new process namespace builds the
//! view of the file system while it still has the lab's privileges, then drops them and waits too;
//! its child enters a user namespace *below* the one that owns the view, so that capabilities that
//! a program gains in a user namespace do not apply to these mounts.
//!
//! The root is changed by `pivot_root`, never by `chroot`: the kernel refuses user namespaces in a
//! `chroot` (user_namespaces(7)), and browsers build their own sandboxes with them.

mod filter;
mod identity;
mod mounts;
mod refused;
mod view;

use crate::Error;
use crate::error::check;
use crate::sandbox;
pub use identity::Identity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    PidfdFlags, Resource, Rlimit, WaitOptions, getpid, pidfd_open, setrlimit, umask, wait,
};
use rustix::system::sethostname;
use rustix::thread::UnshareFlags;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use view::View;

/// The host name in the confined namespace, which hides the real one.
const HOST: &str = "lab";

/// The exit status if a command cannot be started, as in shells.
const EXIT_NOT_STARTED: i32 = 127;

/// The most processes and threads of one confined program. Chromium has some 300 for a page of ten
/// sites, Firefox 600.
const PROCESSES_MAX: u64 = 4096;

/// The umask for the folders of the view, whatever the caller's is: the confined user has to
/// traverse them.
const UMASK: Mode = Mode::from_raw_mode(0o022);

/// Runs `command` confined and returns its exit status, or 128 plus the signal that ended it. It
/// inherits the caller's first three descriptors and `descriptors` after them; further ones are
/// closed, because an open folder of the host would lead out of the view.
///
/// It ends with the caller's parent at the latest. The caller must have one thread and may not use
/// its own namespaces for anything else.
///
/// With root privileges `identity` is an unprivileged user; without them, the caller first becomes
/// root of a user namespace in which it is the only user, unless it already is in a lab.
///
/// # Errors
///
/// Fails if the kernel refuses a step, and names the step; nothing is left behind.
pub fn run(
    identity: Identity,
    view: &View,
    descriptors: u32,
    command: &[String],
) -> Result<i32, Error> {
    identity::become_root_of_own_namespace()?;
    let directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let flags = libc::CLONE_NEWPID
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    sandbox::die_with_parent()?;
    let caller = Caller::open()?;
    let pid = sandbox::fork(flags, "create the namespaces of a confined program")?;
    if pid > 0 {
        drop(caller);
        close_all_above_errors();
        return sandbox::supervise(pid);
    }
    let status = run_first_process(&caller, identity, view, descriptors, &directory, command)
        .unwrap_or_else(|error| {
            eprintln!("eyelevel-lab: {error}");
            EXIT_NOT_STARTED
        });
    std::process::exit(status)
}

/// Runs process 1: builds the view, starts the child, and drops all privileges.
fn run_first_process(
    caller: &Caller,
    identity: Identity,
    view: &View,
    descriptors: u32,
    directory: &Path,
    command: &[String],
) -> Result<i32, Error> {
    caller.die_with_it()?;
    sethostname(HOST.as_bytes()).map_err(|e| Error::new("name a confined program's machine", e))?;
    let from_caller = umask(UMASK);
    view.enter()?;
    umask(from_caller);
    let (mut from_parent, mut to_child) = pipe().map_err(|e| Error::new("make a pipe", e))?;
    let (mut from_child, mut to_parent) = pipe().map_err(|e| Error::new("make a pipe", e))?;
    let child = sandbox::fork(0, "start a confined program")?;
    if child == 0 {
        drop((to_child, from_child));
        return become_program(identity, descriptors, directory, command, || {
            send_ready(&mut to_parent)?;
            await_ready(&mut from_parent)
        });
    }
    drop((to_parent, from_parent));
    // The child is in its user namespace, or has reported why not and ended.
    if await_ready(&mut from_child).is_ok() {
        identity.write_maps(child)?;
        let _ = send_ready(&mut to_child);
    }
    drop((to_child, from_child));
    identity.drop_privileges_as_first_process()?;
    // Changing the user resets the parent-death signal.
    caller.die_with_it()?;
    close_all_above_errors();
    Ok(wait_as_first_process(child))
}

/// The waiting caller, opened before process 1 starts: it might otherwise be killed before process
/// 1 has set its parent-death signal, and process 1 cannot see its parent's number.
struct Caller(OwnedFd);

impl Caller {
    fn open() -> Result<Self, Error> {
        let held = pidfd_open(getpid(), PidfdFlags::empty());
        Ok(Self(
            held.map_err(|e| Error::new("hold on to this process", e))?,
        ))
    }

    fn die_with_it(&self) -> Result<(), Error> {
        sandbox::die_with_parent()?;
        let ended = PollFd::new(&self.0, PollFlags::IN);
        match poll(&mut [ended], Some(&Timespec::default())) {
            Ok(0) => Ok(()),
            _ => Err(Error::new(
                "go on without the process that waits",
                io::ErrorKind::BrokenPipe,
            )),
        }
    }
}

fn become_program(
    identity: Identity,
    descriptors: u32,
    directory: &Path,
    command: &[String],
    be_mapped: impl FnOnce() -> io::Result<()>,
) -> Result<i32, Error> {
    identity.leave_groups();
    sandbox::unshare(
        UnshareFlags::NEWUSER,
        "create the user namespace of a confined program",
    )?;
    be_mapped().map_err(|e| Error::new("wait for the maps of a user namespace", e))?;
    identity.become_inner_user()?;
    limit_processes()?;
    sandbox::die_with_parent()?;
    if std::env::set_current_dir(directory).is_err() {
        std::env::set_current_dir("/").map_err(|e| Error::new("enter /", e))?;
    }
    close_on_exec(3 + descriptors)?;
    filter::install()?;
    let error = Command::new(&command[0]).args(&command[1..]).exec();
    Err(Error::new(format!("run {} confined", command[0]), error)
        .remedy("it sees the system alone, and the paths that are named for it: an external server has `paths`"))
}

/// Limits the processes and threads of the program. Set inside its user namespace, where the kernel
/// counts them separately from Linux 5.14 on; before that all of the user's labs count together, so
/// no limit is set.
fn limit_processes() -> Result<(), Error> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if !counts_by_namespace(&release) {
        return Ok(());
    }
    let bound = Rlimit {
        current: Some(PROCESSES_MAX),
        maximum: Some(PROCESSES_MAX),
    };
    match setrlimit(Resource::Nproc, bound) {
        // A lower limit of the caller's stays.
        Ok(()) | Err(Errno::PERM) => Ok(()),
        Err(error) => Err(Error::new("bound a confined program's processes", error)),
    }
}

/// Whether a kernel of this release counts a user's processes by user namespace.
fn counts_by_namespace(release: &str) -> bool {
    let mut parts = release.split(['.', '-']).map(str::parse::<u32>);
    let (major, minor) = (parts.next(), parts.next());
    matches!((major, minor), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (5, 14))
}

/// Waits for `child` and reaps orphans meanwhile; everything else ends with this process.
fn wait_as_first_process(child: i32) -> i32 {
    sandbox::forward_signals_to(child);
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty())) {
            Ok(Some((pid, status))) if pid.as_raw_pid() == child => {
                return sandbox::exit_status(status);
            }
            Ok(_) => {}
            Err(_) => return EXIT_NOT_STARTED,
        }
    }
}

/// Closes all descriptors above standard error: only the browser may hold its pipes, so that their
/// end shows its end.
fn close_all_above_errors() {
    // SAFETY: nothing in this process uses a descriptor above 2 from here on.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

fn close_on_exec(first: u32) -> Result<(), Error> {
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: takes integers; nothing is closed before the command is executed.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
    check(result as i32, || {
        "keep descriptors from a confined program".into()
    })
    .map(drop)
}

fn send_ready(to: &mut PipeWriter) -> io::Result<()> {
    to.write_all(b".")
}

fn await_ready(from: &mut PipeReader) -> io::Result<()> {
    from.read_exact(&mut [0])
}

#[cfg(test)]
mod tests {
    use super::counts_by_namespace;

    #[test]
    fn kernels_from_5_14_on_count_by_namespace() {
        for release in [
            "5.14.0",
            "5.15-rc1",
            "6.1.0-13-amd64",
            "6.18.44-x\n",
            "10.0",
        ] {
            assert!(counts_by_namespace(release), "{release}");
        }
        for release in ["5.13.19", "4.18.0-553.el8", "5", "", "odd"] {
            assert!(!counts_by_namespace(release), "{release}");
        }
    }
}
