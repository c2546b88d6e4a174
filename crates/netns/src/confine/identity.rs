use crate::Error;
use crate::capabilities::{self, is_privileged};
use crate::error::check;
use crate::sandbox;
use std::fs;
use std::ptr;

/// What the confined program is to itself: an ordinary user. Chromium refuses to be root.
const INNER_ID: u32 = 1000;

/// More than any kernel has (41 in Linux 6.18); the first that is unknown ends the loop.
const CAPABILITIES_MAX: libc::c_ulong = 64;

/// Whom a confined program is to the machine, as ids of the caller's user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
}

impl Identity {
    /// The caller itself, which makes a user namespace of its own, or has the rights of one that has
    /// but one user.
    ///
    /// # Errors
    /// With root's rights over the machine, or over a container in which there are other users.
    pub fn of_caller() -> Result<Self, Error> {
        let map = fs::read_to_string("/proc/self/uid_map")
            .map_err(|e| Error::new("read /proc/self/uid_map", e))?;
        if is_privileged() && !has_one_user(&map) {
            let error = std::io::ErrorKind::PermissionDenied.into();
            return Err(
                Error::new("confine a program with the rights of root", error)
                    .remedy("name an unprivileged user for it"),
            );
        }
        Ok(Self { user: 0, group: 0 })
    }

    /// Maps the inner user of `child`'s user namespace to this identity.
    pub(super) fn write_maps(self, child: i32) -> Result<(), Error> {
        // Where the outer namespace forbids it (an ordinary user's), it is denied already.
        let _ = fs::write(format!("/proc/{child}/setgroups"), "deny");
        for (file, outer) in [("uid_map", self.user), ("gid_map", self.group)] {
            let path = format!("/proc/{child}/{file}");
            fs::write(&path, format!("{INNER_ID} {outer} 1")).map_err(|e| {
                Error::new(
                    format!("map a confined program to user {outer} in {path}"),
                    e,
                )
                .remedy("is there such a user in this container?")
            })?;
        }
        Ok(())
    }

    /// A group of the caller's must not open a file to the program; ordinary users cannot leave theirs.
    pub(super) fn leave_groups(self) {
        // SAFETY: an empty list is read from nowhere.
        unsafe { libc::setgroups(0, ptr::null()) };
    }

    /// Becomes the inner user without any capability, now or by executing a file.
    pub(super) fn become_inner_user(self) -> Result<(), Error> {
        leave_bounding_set();
        set_ids(INNER_ID, INNER_ID)?;
        drop_capabilities()
    }

    /// Process 1 has built its view and needs no right any more.
    pub(super) fn give_up_rights_as_first_process(self) -> Result<(), Error> {
        self.leave_groups();
        leave_bounding_set();
        set_ids(self.user, self.group)?;
        drop_capabilities()
    }
}

/// Makes a caller without root's rights root of a user namespace in which nobody else exists.
pub(super) fn become_root_of_own_namespace() -> Result<(), Error> {
    if is_privileged() {
        return Ok(());
    }
    // SAFETY: these calls cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    sandbox::check_root_can_be_mapped(user)?;
    // SAFETY: affects this process alone, which has one thread.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) }, || {
        "create a user namespace".into()
    })
    .map_err(|e| e.remedy(sandbox::USER_NAMESPACE_REMEDY))?;
    sandbox::map_to_root(user, group)
}

/// Whether a user namespace's map (user_namespaces(7)) has one line for one user.
fn has_one_user(map: &str) -> bool {
    map.lines().count() == 1 && map.split_whitespace().nth(2) == Some("1")
}

fn set_ids(user: u32, group: u32) -> Result<(), Error> {
    // SAFETY: take integers.
    check(unsafe { libc::setresgid(group, group, group) }, || {
        format!("become group {group}")
    })?;
    // SAFETY: as above.
    check(unsafe { libc::setresuid(user, user, user) }, || {
        format!("become user {user}")
    })
    .map(drop)
}

/// No file can bring a capability back. It takes a right that `set_ids` may end.
fn leave_bounding_set() {
    for capability in 0..CAPABILITIES_MAX {
        // SAFETY: takes integers. The first capability that the kernel does not have ends it.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } < 0 {
            break;
        }
    }
}

fn drop_capabilities() -> Result<(), Error> {
    // SAFETY: takes integers.
    unsafe {
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_CLEAR_ALL,
            0,
            0,
            0,
        );
    }
    let header = [capabilities::VERSION, 0];
    let none = [0u32; 6];
    // SAFETY: header and data have the sizes of version 3 and outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    check(result as i32, || "drop all capabilities".into())?;
    // SAFETY: takes integers.
    check(
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) },
        || "forbid new privileges".into(),
    )
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::has_one_user;

    #[test]
    fn a_namespace_of_one_user_is_told_from_a_containers() {
        assert!(has_one_user("         0       1000          1\n"));
        assert!(!has_one_user("         0          0 4294967295\n"));
        assert!(!has_one_user("0 1000 1\n1 100000 65536\n"));
    }
}
