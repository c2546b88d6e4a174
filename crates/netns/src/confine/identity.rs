use crate::Error;
use crate::capabilities::is_privileged;
use crate::sandbox;
use rustix::process::{Gid, Uid, getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};
use std::fs;

/// The user id that the confined program sees: an ordinary user's, because Chromium refuses to run
/// as root.
const INNER_ID: u32 = 1000;

/// The identity of a confined program on the machine, as ids of the caller's user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user id.
    pub user: u32,
    /// The group id.
    pub group: u32,
}

impl Identity {
    /// Returns the caller's own identity, for a caller that creates a user namespace or is in one
    /// with only one user.
    ///
    /// # Errors
    ///
    /// Fails for root of the machine, or of a container in which there are other users.
    pub fn from_caller() -> Result<Self, Error> {
        let map = fs::read_to_string("/proc/self/uid_map")
            .map_err(|e| Error::new("read /proc/self/uid_map", e))?;
        if is_privileged() && !has_one_user(&map) {
            let error = std::io::ErrorKind::PermissionDenied;
            return Err(
                Error::new("confine a program with the rights of root", error)
                    .remedy("name an unprivileged user for it"),
            );
        }
        Ok(Self { user: 0, group: 0 })
    }

    /// Maps the inner user of `child`'s user namespace to this identity.
    pub(super) fn write_maps(self, child: i32) -> Result<(), Error> {
        // Where the outer namespace forbids it (an ordinary user's), setgroups is already denied.
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

    /// Drops the caller's supplementary groups, which could open files to the program; ordinary
    /// users cannot drop theirs.
    pub(super) fn leave_groups(self) {
        let _ = set_thread_groups(&[]);
    }

    /// Switches to the inner user without any capability, now or after executing a file.
    pub(super) fn become_inner_user(self) -> Result<(), Error> {
        leave_bounding_set();
        set_ids(INNER_ID, INNER_ID)?;
        drop_capabilities()
    }

    /// Drops the privileges of process 1, which has built its view.
    pub(super) fn drop_privileges_as_first_process(self) -> Result<(), Error> {
        self.leave_groups();
        leave_bounding_set();
        set_ids(self.user, self.group)?;
        drop_capabilities()
    }
}

/// Makes a caller without root privileges root of a user namespace in which it is the only user.
pub(super) fn become_root_of_own_namespace() -> Result<(), Error> {
    if is_privileged() {
        return Ok(());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    sandbox::check_root_can_be_mapped(user)?;
    sandbox::unshare(UnshareFlags::NEWUSER, "create a user namespace")
        .map_err(|e| e.remedy(sandbox::USER_NAMESPACE_REMEDY))?;
    sandbox::map_to_root(user, group)
}

/// Whether a user namespace's map (user_namespaces(7)) has one line for one user.
fn has_one_user(map: &str) -> bool {
    map.lines().count() == 1 && map.split_whitespace().nth(2) == Some("1")
}

/// Sets the ids of the calling thread, which is the process's only one.
fn set_ids(user: u32, group: u32) -> Result<(), Error> {
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(group));
    set_thread_res_gid(gid, gid, gid)
        .map_err(|e| Error::new(format!("become group {group}"), e))?;
    set_thread_res_uid(uid, uid, uid).map_err(|e| Error::new(format!("become user {user}"), e))
}

/// Empties the bounding set, so that no file can restore a capability. Needs a capability that
/// `set_ids` may drop.
fn leave_bounding_set() {
    // More than any kernel has (41 in Linux 6.18); the first unknown one ends the loop.
    for bit in 0..u64::BITS {
        if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)).is_err() {
            break;
        }
    }
}

fn drop_capabilities() -> Result<(), Error> {
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets).map_err(|e| Error::new("drop all capabilities", e))?;
    set_no_new_privs(true).map_err(|e| Error::new("forbid new privileges", e))
}

#[cfg(test)]
mod tests {
    use super::has_one_user;

    #[test]
    fn a_namespace_of_one_user_is_distinguished_from_a_containers() {
        assert!(has_one_user("         0       1000          1\n"));
        assert!(!has_one_user("         0          0 4294967295\n"));
        assert!(!has_one_user("0 1000 1\n1 100000 65536\n"));
    }
}
