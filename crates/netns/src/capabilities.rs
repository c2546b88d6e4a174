//! The rights that decide how a lab is made: capabilities, not the user's number. Root of a container
//! may have none of them, and an ordinary user may have been given all.

use rustix::thread::{CapabilitySet as Set, capabilities};

/// A capability (capabilities(7)) and what a lab wants it for.
#[derive(Clone, Copy, Debug)]
pub struct Capability {
    /// As `podman run --cap-add` and `setpriv` take it.
    pub name: &'static str,
    set: Set,
    /// What it allows a lab.
    pub purpose: &'static str,
}

impl Capability {
    /// Its number, which is the place of its bit in a set.
    pub fn number(&self) -> u32 {
        self.set.bits().trailing_zeros()
    }
}

const fn of(name: &'static str, set: Set, purpose: &'static str) -> Capability {
    Capability { name, set, purpose }
}

/// What it takes to make a lab without a user namespace. Where one is missing the lab gets a user
/// namespace, in which it has all of them.
pub const NEEDED: &[Capability] = &[
    of(
        "CHOWN",
        Set::CHOWN,
        "hand folders over to the browser's user",
    ),
    of(
        "DAC_OVERRIDE",
        Set::DAC_OVERRIDE,
        "look after what that user wrote",
    ),
    of("KILL", Set::KILL, "end that user's processes"),
    of("SETGID", Set::SETGID, "take that user's group"),
    of("SETUID", Set::SETUID, "become that user"),
    of("SETPCAP", Set::SETPCAP, "give up all rights for good"),
    of(
        "NET_BIND_SERVICE",
        Set::NET_BIND_SERVICE,
        "serve on ports 443 and 53",
    ),
    of("NET_ADMIN", Set::NET_ADMIN, "make devices and routes"),
    of("NET_RAW", Set::NET_RAW, "see when packets arrive"),
    of("SYS_CHROOT", Set::SYS_CHROOT, "enter a lab's file system"),
    of("SYS_PTRACE", Set::SYS_PTRACE, "enter a lab's processes"),
    of("SYS_ADMIN", Set::SYS_ADMIN, "make namespaces and mounts"),
];

/// Whether the caller can make a lab as it is: all that are [`NEEDED`] are in effect.
pub fn is_privileged() -> bool {
    suffices(effective())
}

/// Whether the caller may map root of its user namespace into a new one (user_namespaces(7)).
pub(crate) fn may_map_root() -> bool {
    effective().contains(Set::SETFCAP)
}

fn suffices(effective: Set) -> bool {
    NEEDED.iter().all(|each| effective.contains(each.set))
}

/// This thread's effective set; empty where the kernel does not say.
fn effective() -> Set {
    capabilities(None).map_or(Set::empty(), |sets| sets.effective)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_that_is_missing_tells() {
        let all: Set = NEEDED.iter().map(|each| each.set).collect();
        assert!(suffices(all) && suffices(Set::all()) && !suffices(Set::empty()));
        for each in NEEDED {
            assert!(!suffices(!each.set), "{}", each.name);
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
