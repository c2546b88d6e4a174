//! The kernel's calls for mounts: trees and file systems are held by a descriptor until they get
//! their place, so that no path is looked up twice (open_tree(2), fsopen(2), move_mount(2)).

use crate::Error;
use crate::error::check;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const OPEN_TREE_CLONE: libc::c_uint = 1;
const FSCONFIG_SET_STRING: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;

pub(super) const READ_WRITE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
pub(super) const READ_ONLY: u64 = READ_WRITE | libc::MOUNT_ATTR_RDONLY;
pub(super) const MOUNT_DEVICE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
pub(super) const MOUNT_PROC: u64 = READ_WRITE | libc::MOUNT_ATTR_NOEXEC;

/// No change here reaches the caller's mounts, nor theirs us.
pub(super) fn make_private() -> Result<(), Error> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    let null = std::ptr::null();
    // SAFETY: the target is NUL-terminated, the other pointers may be null for a change of flags.
    let result = unsafe { libc::mount(null, c"/".as_ptr(), null, flags, null.cast()) };
    check(result, || "keep mounts private".into()).map(drop)
}

/// A copy of the mounts at `path`, not yet anywhere, with more attributes.
pub(super) fn clone_tree(path: &Path, attributes: u64) -> Result<File, Error> {
    let text = c_text(path);
    let flags =
        OPEN_TREE_CLONE | libc::O_CLOEXEC as libc::c_uint | libc::AT_RECURSIVE as libc::c_uint;
    // SAFETY: `text` is NUL-terminated and outlives the call.
    let mount = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, text.as_ptr(), flags) };
    let mount = file_of(mount, || {
        format!("show {} to a confined program", path.display())
    })?;
    let wanted = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is empty and NUL-terminated, `wanted` has the size that is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const wanted,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result as i32, || format!("protect {}", path.display()))?;
    Ok(mount)
}

/// A new file system with these settings, not yet anywhere.
pub(super) fn new_file_system(
    kind: &CStr,
    settings: &[(&CStr, &CStr)],
    attributes: u64,
) -> Result<File, Error> {
    let attempt = || {
        format!(
            "make a new {} for a confined program",
            kind.to_string_lossy()
        )
    };
    // SAFETY: `kind` is NUL-terminated.
    let context = unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), 1 as libc::c_uint) };
    let context = file_of(context, attempt)?;
    for (key, value) in settings {
        // SAFETY: both are NUL-terminated and outlive the call.
        let set = unsafe {
            let descriptor = context.as_raw_fd();
            libc::syscall(
                libc::SYS_fsconfig,
                descriptor,
                FSCONFIG_SET_STRING,
                key.as_ptr(),
                value.as_ptr(),
                0,
            )
        };
        check(set as i32, attempt)?;
    }
    let null = std::ptr::null::<libc::c_char>();
    // SAFETY: this command takes neither key nor value.
    let created = unsafe {
        let descriptor = context.as_raw_fd();
        libc::syscall(
            libc::SYS_fsconfig,
            descriptor,
            FSCONFIG_CMD_CREATE,
            null,
            null,
            0,
        )
    };
    check(created as i32, attempt)?;
    // SAFETY: takes integers.
    let mount = unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), 1, attributes) };
    file_of(mount, attempt)
}

/// Puts a mount that is nowhere at `place`.
pub(super) fn attach(mount: &File, place: &Path) -> Result<(), Error> {
    let text = c_text(place);
    const FROM_DESCRIPTOR: libc::c_uint = 4;
    // SAFETY: both paths are NUL-terminated and outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            text.as_ptr(),
            FROM_DESCRIPTOR,
        )
    };
    check(result as i32, || format!("mount {}", place.display())).map(drop)
}

/// Makes the working directory, a mount, the root, read-only itself, and lets go of the old one.
pub(super) fn pivot() -> Result<(), Error> {
    let here = c".".as_ptr();
    // SAFETY: the paths are NUL-terminated.
    check(
        unsafe { libc::syscall(libc::SYS_pivot_root, here, here) } as i32,
        || "change the root of a confined program".into(),
    )?;
    // SAFETY: as above. The old root lies over the new one now.
    check(unsafe { libc::umount2(here, libc::MNT_DETACH) }, || {
        "let go of the old root".into()
    })?;
    let flags =
        libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV;
    let null = std::ptr::null();
    // SAFETY: the target is NUL-terminated, the other pointers may be null for a change of flags.
    let result = unsafe { libc::mount(null, c"/".as_ptr(), null, flags, null.cast()) };
    check(result, || "make the new root read-only".into())?;
    std::env::set_current_dir("/").map_err(|e| Error::new("enter the new root", e))
}

fn c_text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("paths of the system have no NUL")
}

fn file_of(descriptor: libc::c_long, attempt: impl FnOnce() -> String) -> Result<File, Error> {
    let descriptor = check(descriptor as i32, attempt)?;
    // SAFETY: a new descriptor, owned here alone.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}
