//! The capabilities that decide how a lab is created, rather than the user id: root of a container
//! may have none of them, and an ordinary user may have been given all.

use rustix::thread::{CapabilitySet as Set, capabilities};

/// A capability (capabilities(7)) and its purpose for a lab.
#[derive(Clone, Copy, Debug)]
pub struct Capability {
    /// The name for `podman run --cap-add` and `setpriv`.
    pub name: &'static str,
    set: Set,
    /// What it allows a lab to do.
    pub purpose: &'static str,
}

impl Capability {
    /// Returns the capability's number, the position of its bit in a set.
    pub fn number(&self) -> u32 {
        self.set.bits().trailing_zeros()
    }
}

const fn new(name: &'static str, set: Set, purpose: &'static str) -> Capability {
    Capability { name, set, purpose }
}

/// The capabilities to create a lab without a user namespace. If one is missing, the lab gets a
/// user namespace, in which it has all of them.
pub const NEEDED: &[Capability] = &[
    new(
        "CHOWN",
        Set::CHOWN,
        "hand folders over to the browser's user",
    ),
    new(
        "DAC_OVERRIDE",
        Set::DAC_OVERRIDE,
        "look after what that user wrote",
    ),
    new("KILL", Set::KILL, "end that user's processes"),
    new("SETGID", Set::SETGID, "take that user's group"),
    new("SETUID", Set::SETUID, "become that user"),
    new("SETPCAP", Set::SETPCAP, "give up all rights for good"),
    new(
        "NET_BIND_SERVICE",
        Set::NET_BIND_SERVICE,
        "serve on ports 443 and 53",
    ),
    new("NET_ADMIN", Set::NET_ADMIN, "make devices and routes"),
    new("NET_RAW", Set::NET_RAW, "see when packets arrive"),
    new("SYS_CHROOT", Set::SYS_CHROOT, "enter a lab's file system"),
    new("SYS_PTRACE", Set::SYS_PTRACE, "enter a lab's processes"),
    new("SYS_ADMIN", Set::SYS_ADMIN, "make namespaces and mounts"),
];

/// Whether all of [`NEEDED`] are in effect, so that the caller needs no user namespace.
pub fn is_privileged() -> bool {
    is_sufficient(effective())
}

/// Whether the caller may map root of its user namespace into a new one (user_namespaces(7)).
pub(crate) fn may_map_root() -> bool {
    effective().contains(Set::SETFCAP)
}

fn is_sufficient(effective: Set) -> bool {
    NEEDED.iter().all(|each| effective.contains(each.set))
}

/// Returns this thread's effective set, or an empty one if it cannot be read.
fn effective() -> Set {
    capabilities(None).map_or(Set::empty(), |sets| sets.effective)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_capability_matters() {
        let all: Set = NEEDED.iter().map(|each| each.set).collect();
        assert!(is_sufficient(all) && is_sufficient(Set::all()) && !is_sufficient(Set::empty()));
        for each in NEEDED {
            assert!(!is_sufficient(!each.set), "{}", each.name);
        }
    }

    #[test]
    fn the_effective_set_is_what_proc_shows() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let shown = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let shown = u64::from_str_radix(shown.unwrap().trim(), 16).unwrap();
        assert_eq!(effective().bits(), shown);
    }
}
