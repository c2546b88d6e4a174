//! Signals that the one who started a command in a lab passes on to it.

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

/// The signals by which people and service managers end things.
pub(crate) const RELAYED: [libc::c_int; 4] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The process that signals are passed on to; 0 before there is one.
static TARGET: AtomicI32 = AtomicI32::new(0);

/// Lets all signals through again: whoever started this process may have them blocked, to wait for
/// them, and what a process blocks its children inherit.
///
/// # Errors
/// Where the kernel refuses.
pub fn unblock_signals() -> Result<(), Error> {
    // SAFETY: an all-zero set is emptied before use; both calls take pointers to it alone.
    let result = unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut())
    };
    check(result, || "let signals through".into()).map(drop)
}

/// Keeps the relayed signals waiting: in this thread, and in all that it starts from now on.
///
/// # Errors
/// Where the kernel refuses.
pub fn block_signals() -> Result<(), Error> {
    change_mask(libc::SIG_BLOCK)
}

/// A relayed signal that waits since [`block_signals`].
pub fn waiting_signal() -> Option<i32> {
    // SAFETY: an all-zero set is filled before it is asked.
    unsafe {
        let mut waiting: libc::sigset_t = std::mem::zeroed();
        libc::sigpending(&mut waiting);
        RELAYED
            .into_iter()
            .find(|signal| libc::sigismember(&waiting, *signal) == 1)
    }
}

/// Starts `command` and passes signals on to it, those first that came before its number was known:
/// it may run, and be heard of by others, while this process has yet to wake from starting it.
///
/// # Errors
/// Where the kernel or the program refuses; `described` says what was to be run.
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

/// Passes the signals on to `child`, those that waited first, until [`wait_for_child`].
///
/// # Errors
/// Where the kernel refuses.
pub fn relay_signals_to(child: &Child) -> Result<(), Error> {
    to(child.id() as i32);
    hear()?;
    change_mask(libc::SIG_UNBLOCK)
}

/// Waits for the end of `child`, to which signals are relayed; from then on they wait again.
/// Returns its exit status, 128 and the signal's number where one ended it.
///
/// # Errors
/// Where the kernel refuses.
pub fn wait_for_child(child: &mut Child) -> Result<i32, Error> {
    // It stays a zombie, whose number nobody else gets, until nothing is sent to it any more.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let pid = Pid::from_child(child);
    retry_on_intr(|| waitid(WaitId::Pid(pid), ended))
        .map_err(|e| Error::new("wait for the command", e))?;
    block_signals()?;
    to(0);
    sandbox::wait_for(pid.as_raw_pid())
}

/// Sends `child` SIGTERM or, where `kill`, SIGKILL: to what it started where it has children, since
/// what stands for a command inside a lab ends with it. One that has ended is left alone.
pub fn end_command_of(child: &Child, kill: bool) {
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

/// Hears the signals, and passes on those that a process sent. What a terminal sends reaches its
/// whole foreground group, and so the target without our help.
pub(crate) fn hear() -> Result<(), Error> {
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

/// Passes signals on to `pid` from now on.
pub(crate) fn to(pid: i32) {
    TARGET.store(pid, Ordering::Relaxed);
}

extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let target = TARGET.load(Ordering::Relaxed);
    // SAFETY: the kernel hands a valid siginfo.
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
        // SAFETY: both calls take integers and are async-signal-safe. This thread alone is meant:
        // others of the test's process have the signal let through.
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
