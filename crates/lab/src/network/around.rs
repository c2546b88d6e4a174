//! The lab around a command: what it says of itself to labs that are made inside it.
//!
//! A shell inside a shell is joined to it, so it must know how the outer one is made: what the stack's
//! TCP is set to, so that a client one shell further in is the same client; which networks are taken;
//! whether there is a way further out. It stands as a comment in the `hosts` of the outer lab, a file
//! of its mount namespace alone, which neither an environment that is cleared nor another lab's can
//! confuse.

use crate::network::ends::Ends;
use eyelevel_netns::local_addresses;
use eyelevel_replay::StackConfig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;

const HOSTS: &str = "/etc/hosts";
const MARK: &str = "# eyelevel lab: ";

/// A lab as those inside it need to know it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Around {
    /// Whether it reaches the Internet, through all labs around it.
    pub internet: bool,
    /// Whether its path carries IPv6.
    pub ipv6: bool,
    /// The stack that its client's TCP is set for, or that of a lab further out.
    pub stack: Option<StackConfig>,
    /// Networks of [`Ends`] that its servers or labs further out use.
    pub networks_taken: BTreeSet<u16>,
}

impl Around {
    /// The lab in whose client's network the caller stands; none outside of labs.
    pub fn find() -> Option<Self> {
        let own = Self::read(&fs::read_to_string(HOSTS).ok()?)?;
        // In a network that somebody made further in, the lab's path is not there.
        let addresses = local_addresses().ok()?;
        addresses.iter().any(Ends::is_client).then_some(own)
    }

    fn read(hosts: &str) -> Option<Self> {
        let text = hosts.lines().find_map(|line| line.strip_prefix(MARK))?;
        serde_json::from_str(text).ok()
    }

    /// The line of a lab's `hosts`.
    pub fn line(&self) -> String {
        let text = serde_json::to_string(self).expect("no maps with foreign keys");
        format!("{MARK}{text}\n")
    }
}

/// Names that the caller's `hosts` adds to a lab's: without what a lab around says of itself.
pub fn hosts_of_others() -> String {
    without_own(&fs::read_to_string(HOSTS).unwrap_or_default())
}

fn without_own(hosts: &str) -> String {
    let is_own = |line: &&str| {
        line.starts_with(MARK)
            || line.split_once(' ').is_some_and(|(address, names)| {
                matches!(names, "near" | "far")
                    && address
                        .parse()
                        .is_ok_and(|ip: IpAddr| Ends::is_of_a_lab(&ip))
            })
    };
    let kept = hosts.lines().filter(|line| !is_own(line));
    kept.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_is_read_as_it_was_told() {
        let told = Around {
            internet: true,
            networks_taken: [3, 700].into(),
            ..Around::default()
        };
        let hosts = format!("127.0.0.1 localhost\n{}", told.line());
        assert_eq!(Around::read(&hosts), Some(told));
        assert_eq!(
            Around::read("127.0.0.1 localhost\n# eyelevel lab: {\n"),
            None
        );
    }

    #[test]
    fn a_labs_own_names_are_not_passed_on() {
        let others = "127.0.0.1 localhost\n10.0.0.7 far\n192.0.2.1 a.example far\n";
        let own = "100.64.3.2 near\nfd65:7965:6c65:3::1 far\n";
        let hosts = format!("{}{own}{others}", Around::default().line());
        assert_eq!(without_own(&hosts), others);
    }
}
