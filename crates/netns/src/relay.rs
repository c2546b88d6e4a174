//! Relays signals from the process that started a command in a lab to that command.

use crate::Error;
use crate::error::check;
use crate::sandbox;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals by which users and service managers end programs.
pub(crate) const RELAYED: [libc::c_int; 4] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The process that signals are passed on to; 0 before there is one.
static TARGET: AtomicI32 = AtomicI32::new(0);

/// Unblocks all signals: the process that started this one may have blocked them to wait for them,
/// and children inherit the mask.
///
/// # Errors
///
/// Fails if the kernel refuses.
pub fn unblock_signals() -> Result<(), Error> {
    // SAFETY: an all-zero set is emptied before use; both calls take pointers to it alone.
    let result = unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut())
    };
    check(result, || "let signals through".into()).map(drop)
}

/// Blocks the relayed signals in this thread and in all that it starts from now on, so that they
/// stay pending.
///
/// # Errors
///
/// Fails if the kernel refuses.
pub fn block_signals() -> Result<(), Error> {
    change_mask(libc::SIG_BLOCK)
}

/// Returns a relayed signal that is pending since [`block_signals`].
pub fn pending_signal() -> Option<i32> {
    // SAFETY: an all-zero set is filled before it is read.
    unsafe {
        let mut waiting: libc::sigset_t = std::mem::zeroed();
        libc::sigpending(&mut waiting);
        RELAYED
            .into_iter()
            .find(|signal| libc::sigismember(&waiting, *signal) == 1)
    }
}

/// Starts `command` and relays signals to it, beginning with those that arrived before its process
/// id was known: others may already see it while this process has yet to return from starting it.
///
/// # Errors
///
/// Fails if the kernel or the program refuses; `described` names the command.
pub(crate) fn start_relayed(
    command: &mut Command,
    described: impl FnOnce() -> String,
) -> Result<Child, Error> {
    block_signals()?;
    // SAFETY: the call is async-signal-safe, and the closure allocates only where the kernel refuses.
    unsafe {
        command.pre_exec(|| change_mask(libc::SIG_UNBLOCK).map_err(io::Error::other));
    }
    let child = command.spawn().map_err(|e| Error::new(described(), e))?;
    relay_signals_to(&child)?;
    Ok(child)
}

/// Relays signals to `child`, beginning with pending ones, until [`wait_for_child`].
///
/// # Errors
///
/// Fails if the kernel refuses.
pub fn relay_signals_to(child: &Child) -> Result<(), Error> {
    set_target(child.id() as i32);
    install_handler()?;
    change_mask(libc::SIG_UNBLOCK)
}

/// Waits for the end of `child`, to which signals are relayed; from then on they stay pending
/// again. Returns its exit status, or 128 plus the signal that ended it.
///
/// # Errors
///
/// Fails if the kernel refuses.
pub fn wait_for_child(child: &mut Child) -> Result<i32, Error> {
    // It stays a zombie, so that its number is not reused, until nothing is sent to it any more.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let pid = Pid::from_child(child);
    retry_on_intr(|| waitid(WaitId::Pid(pid), ended))
        .map_err(|e| Error::new("wait for the command", e))?;
    block_signals()?;
    set_target(0);
    sandbox::wait_for(pid.as_raw_pid())
}

/// Sends SIGTERM, or SIGKILL if `kill`, to the children of `child` or, if there are none, to
/// `child`: the process that entered a lab for a command ends with that command. One that has ended
/// is left alone.
pub fn end_command(child: &Child, kill: bool) {
    let pid = child.id();
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let inner: Vec<i32> = listed
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let targets = if inner.is_empty() {
        vec![pid as i32]
    } else {
        inner
    };
    let signal = if kill { libc::SIGKILL } else { libc::SIGTERM };
    for target in targets {
        sandbox::kill_child(target, signal);
    }
}

fn change_mask(how: libc::c_int) -> Result<(), Error> {
    // SAFETY: an all-zero set is emptied before use; the calls take pointers to it alone.
    let result = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in RELAYED {
            libc::sigaddset(&mut set, signal);
        }
        libc::pthread_sigmask(how, &set, ptr::null_mut())
    };
    if result == 0 {
        return Ok(());
    }
    Err(Error::new(
        "hold signals",
        io::Error::from_raw_os_error(result),
    ))
}

/// Installs the handler, which relays signals that a process sent. Those of a terminal reach its
/// whole foreground group, and so the target, without it.
pub(crate) fn install_handler() -> Result<(), Error> {
    for signal in RELAYED {
        // SAFETY: the handler only reads its argument, loads an atomic and calls kill.
        let result = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = pass_on as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &action, ptr::null_mut())
        };
        check(result, || "hear signals".into())?;
    }
    Ok(())
}

/// Relays signals to `pid` from now on.
pub(crate) fn set_target(pid: i32) {
    TARGET.store(pid, Ordering::Relaxed);
}

extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let target = TARGET.load(Ordering::Relaxed);
    // SAFETY: the kernel passes a valid siginfo.
    let is_from_process = unsafe { (*info).si_code } <= 0;
    if target > 0 && is_from_process {
        sandbox::kill_child(target, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_before_the_command_is_known_reaches_it() {
        let mut command = Command::new("/bin/sleep");
        command.arg("5"); // then it would end by itself, with status 0
        // SAFETY: both calls take integers and are async-signal-safe. Only this thread is
        // signalled, because others of the test's process do not block it.
        let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
        unsafe {
            command.pre_exec(move || {
                // Its parent waits for the exec that comes next, and cannot know its number.
                libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGTERM);
                Ok(())
            });
        }
        let mut child = start_relayed(&mut command, || "run sleep".into()).unwrap();
        assert_eq!(wait_for_child(&mut child).unwrap(), 128 + libc::SIGTERM);
    }
}
