//! System calls for mounts: trees and file systems are held by a descriptor until they are
//! attached, so that no path is looked up twice (open_tree(2), fsopen(2), move_mount(2)).

use crate::Error;
use crate::error::check;
use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
    mount_change, mount_remount, move_mount, open_tree, unmount,
};
use rustix::process::pivot_root;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

pub(super) const READ_WRITE: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);
pub(super) const READ_ONLY: MountAttrFlags = READ_WRITE.union(MountAttrFlags::MOUNT_ATTR_RDONLY);
pub(super) const MOUNT_DEVICE: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);
pub(super) const MOUNT_PROC: MountAttrFlags = READ_WRITE.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);

/// Makes all mounts private, so that changes here and in the caller's namespace do not affect each
/// other.
pub(super) fn make_private() -> Result<(), Error> {
    let flags = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", flags).map_err(|e| Error::new("keep mounts private", e))
}

/// Clones the mounts at `path` as a detached tree, with additional attributes.
pub(super) fn clone_tree(path: &Path, attributes: MountAttrFlags) -> Result<OwnedFd, Error> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let mount = open_tree(CWD, path, flags).map_err(|e| {
        let attempt = format!("show {} to a confined program", path.display());
        Error::new(attempt, e)
    })?;
    let wanted = libc::mount_attr {
        attr_set: attributes.bits().into(),
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

/// Creates a detached file system with these settings.
pub(super) fn new_file_system(
    kind: &CStr,
    settings: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, Error> {
    let make = || {
        let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, value) in settings {
            fsconfig_set_string(&context, *key, *value)?;
        }
        fsconfig_create(&context)?;
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    };
    make().map_err(|e| {
        let attempt = format!(
            "make a new {} for a confined program",
            kind.to_string_lossy()
        );
        Error::new(attempt, e)
    })
}

/// Attaches a detached mount at `place`.
pub(super) fn attach(mount: &OwnedFd, place: &Path) -> Result<(), Error> {
    let from_descriptor = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(mount, c"", CWD, place, from_descriptor)
        .map_err(|e| Error::new(format!("mount {}", place.display()), e))
}

/// Makes the working directory, a mount, the new root, read-only itself, and detaches the old root.
pub(super) fn pivot() -> Result<(), Error> {
    pivot_root(".", ".").map_err(|e| Error::new("change the root of a confined program", e))?;
    // The old root is now mounted over the new one.
    unmount(".", UnmountFlags::DETACH).map_err(|e| Error::new("let go of the old root", e))?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount("/", flags, c"").map_err(|e| Error::new("make the new root read-only", e))?;
    std::env::set_current_dir("/").map_err(|e| Error::new("enter the new root", e))
}
