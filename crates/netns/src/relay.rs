//! Signals that the one who started a command in a lab passes on to it.

use crate::Error;
use crate::error::check;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals by which people and service managers end things.
pub(crate) const RELAYED: [libc::c_int; 4] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// To whom they are passed on; 0 before there is somebody.
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
    // SAFETY: the kernel hands a valid siginfo; the target has not been waited for.
    unsafe {
        if target > 0 && (*info).si_code <= 0 {
            libc::kill(target, signal);
        }
    }
}
