//! Programs that may be hostile (a browser with a stranger's page, somebody's server) under a user
//! of their own, in namespaces of their own, with a view of the system and nothing else.
//!
//! Three processes: the caller waits; process 1 of the new process namespace builds the view of the
//! file system while it still has the lab's rights, then gives them up and waits too; its child
//! enters a user namespace *below* the one that owns the view, so that whatever rights a program
//! gains in a user namespace, they are none over these mounts.
//!
//! The root is changed by `pivot_root`, never by `chroot`: the kernel lets nobody make a user
//! namespace in a `chroot` (user_namespaces(7)), and browsers build their own sandboxes with one.

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

/// What a confined program's machine is called: the host's own name is nobody's business.
const HOST: &str = "lab";

/// The status of a command that cannot be started, as a shell reports it.
const EXIT_NOT_STARTED: i32 = 127;

/// Processes and threads of one confined program at once. Chromium has some 300 for a page of ten
/// sites, Firefox 600.
const PROCESSES_MAX: u64 = 4096;

/// What the folders of the view are made under, whatever the caller's is: its user has to pass them.
const UMASK: Mode = Mode::from_raw_mode(0o022);

/// Runs `command` confined and returns its exit status, or 128 plus the signal that ended it.
/// Of the caller's descriptors it gets the first three and `descriptors` after them: an open folder
/// of the host's would lead out of the view.
///
/// It ends with the caller's parent at the latest. The caller must have one thread and may not use
/// its own namespaces for anything else.
///
/// With root's rights `identity` is an unprivileged user; without, the caller first becomes root of a
/// user namespace in which only it exists, unless it is that in a lab already.
///
/// # Errors
/// Where the kernel refuses a step, with the step; nothing is left behind.
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
    let status = first_process(&caller, identity, view, descriptors, &directory, command)
        .unwrap_or_else(|error| {
            eprintln!("eyelevel-lab: {error}");
            EXIT_NOT_STARTED
        });
    std::process::exit(status)
}

/// What process 1 does: the view, the child, and the end of all rights.
fn first_process(
    caller: &Caller,
    identity: Identity,
    view: &View,
    descriptors: u32,
    directory: &Path,
    command: &[String],
) -> Result<i32, Error> {
    caller.die_with_it()?;
    sethostname(HOST.as_bytes()).map_err(|e| Error::new("name a confined program's machine", e))?;
    let of_caller = umask(UMASK);
    view.enter()?;
    umask(of_caller);
    let (mut from_parent, mut to_child) = pipe().map_err(|e| Error::new("make a pipe", e))?;
    let (mut from_child, mut to_parent) = pipe().map_err(|e| Error::new("make a pipe", e))?;
    let child = sandbox::fork(0, "start a confined program")?;
    if child == 0 {
        drop((to_child, from_child));
        return become_program(identity, descriptors, directory, command, || {
            say(&mut to_parent)?;
            hear(&mut from_parent)
        });
    }
    drop((to_parent, from_parent));
    // The child stands in its user namespace, or has said why not and ended.
    if hear(&mut from_child).is_ok() {
        identity.write_maps(child)?;
        let _ = say(&mut to_child);
    }
    drop((to_child, from_child));
    identity.give_up_rights_as_first_process()?;
    // Another user's process has lost the bond.
    caller.die_with_it()?;
    close_all_above_errors();
    Ok(wait_as_first_process(child))
}

/// The process that waits, held from before the other's beginning: who was killed sooner than the
/// other asked to die with it would be survived. Nobody sees his parent's number from process 1.
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
    bound_processes()?;
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

/// Bounds the processes and threads that the program may have at once. Set inside its user namespace,
/// since the kernel counts them there by themselves from Linux 5.14 on; before that all of the user's
/// labs were counted as one, and nothing is bounded.
fn bound_processes() -> Result<(), Error> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if !counts_by_namespace(&release) {
        return Ok(());
    }
    let bound = Rlimit {
        current: Some(PROCESSES_MAX),
        maximum: Some(PROCESSES_MAX),
    };
    match setrlimit(Resource::Nproc, bound) {
        // A lower bound of the caller's stays.
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

/// Waits for `child` and buries orphans meanwhile; everything else ends with this process.
fn wait_as_first_process(child: i32) -> i32 {
    sandbox::pass_signals_to(child);
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

/// The browser's pipes must be nobody's but its own, so that their end tells of its end.
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

fn say(to: &mut PipeWriter) -> io::Result<()> {
    to.write_all(b".")
}

fn hear(from: &mut PipeReader) -> io::Result<()> {
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
