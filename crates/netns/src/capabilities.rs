//! The rights that decide how a lab is made: capabilities, not the user's number. Root of a container
//! may have none of them, and an ordinary user may have been given all.

use std::ptr;

/// Version 3 of capget(2) and capset(2): 64 bits of capabilities.
pub(crate) const VERSION: u32 = 0x2008_0522;

/// A capability (capabilities(7)) and what a lab wants it for.
#[derive(Clone, Copy, Debug)]
pub struct Capability {
    /// As `podman run --cap-add` and `setpriv` take it.
    pub name: &'static str,
    /// Its bit.
    pub number: u32,
    /// What it allows a lab.
    pub purpose: &'static str,
}

const fn of(name: &'static str, number: u32, purpose: &'static str) -> Capability {
    Capability {
        name,
        number,
        purpose,
    }
}

/// What it takes to make a lab without a user namespace. Where one is missing the lab gets a user
/// namespace, in which it has all of them.
pub const NEEDED: &[Capability] = &[
    of("CHOWN", 0, "hand folders over to the browser's user"),
    of("DAC_OVERRIDE", 1, "look after what that user wrote"),
    of("KILL", 5, "end that user's processes"),
    of("SETGID", 6, "take that user's group"),
    of("SETUID", 7, "become that user"),
    of("SETPCAP", 8, "give up all rights for good"),
    of("NET_BIND_SERVICE", 10, "serve on ports 443 and 53"),
    of("NET_ADMIN", 12, "make devices and routes"),
    of("NET_RAW", 13, "see when packets arrive"),
    of("SYS_CHROOT", 18, "enter a lab's file system"),
    of("SYS_PTRACE", 19, "enter a lab's processes"),
    of("SYS_ADMIN", 21, "make namespaces and mounts"),
];

/// Whether the caller can make a lab as it is: all that are [`NEEDED`] are in effect.
pub fn is_privileged() -> bool {
    suffices(effective())
}

/// Whether the caller may map root of its user namespace into a new one (user_namespaces(7)).
pub(crate) fn may_map_root() -> bool {
    const SETFCAP: u32 = 31;
    effective() >> SETFCAP & 1 == 1
}

fn suffices(effective: u64) -> bool {
    NEEDED.iter().all(|each| effective >> each.number & 1 == 1)
}

/// This thread's effective set; empty where the kernel does not say.
fn effective() -> u64 {
    let header = [VERSION, 0];
    // Effective, permitted and inheritable: the lower 32 bits of each, then the upper.
    let mut sets = [0u32; 6];
    let sets_pointer = ptr::from_mut(&mut sets);
    // SAFETY: header and sets have the sizes of version 3 and outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), sets_pointer) };
    if result < 0 {
        return 0;
    }
    u64::from(sets[3]) << 32 | u64::from(sets[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_that_is_missing_tells() {
        let all = NEEDED.iter().fold(0, |set, each| set | 1 << each.number);
        assert!(suffices(all) && suffices(u64::MAX) && !suffices(0));
        for each in NEEDED {
            assert!(!suffices(!(1 << each.number)), "{}", each.name);
        }
    }

    #[test]
    fn the_effective_set_is_what_proc_shows() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let shown = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let shown = u64::from_str_radix(shown.unwrap().trim(), 16).unwrap();
        assert_eq!(effective(), shown);
    }
}
