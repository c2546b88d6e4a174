//! The description of a lab for labs that are nested in it.
//!
//! A nested shell joins the outer lab, so it must know how that one is made: the stack's TCP
//! settings, so that a client in it behaves the same; the networks in use; whether the Internet is
//! reachable. The description is a comment in the `hosts` of the outer lab, a file of its mount
//! namespace only, which unlike an environment variable cannot be cleared or confused with another
//! lab's.

use crate::network::ends::Ends;
use eyelevel_netns::local_addresses;
use eyelevel_replay::StackConfig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;

const HOSTS: &str = "/etc/hosts";
const MARK: &str = "# eyelevel lab: ";

/// What nested labs need to know of a lab.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OuterLab {
    /// Whether it reaches the Internet, through all labs around it.
    pub internet: bool,
    /// Whether its path carries IPv6.
    pub ipv6: bool,
    /// The stack that its client's TCP is set for, or that of an outer lab.
    pub stack: Option<StackConfig>,
    /// The networks of [`Ends`] that its servers or outer labs use.
    pub networks_taken: BTreeSet<u16>,
}

impl OuterLab {
    /// Returns the lab in whose client's network the caller runs, or `None` outside labs.
    pub fn find() -> Option<Self> {
        let own = Self::read(&fs::read_to_string(HOSTS).ok()?)?;
        // In a network namespace created inside the lab, the lab's path is absent.
        let addresses = local_addresses().ok()?;
        addresses.iter().any(Ends::is_client).then_some(own)
    }

    fn read(hosts: &str) -> Option<Self> {
        let text = hosts.lines().find_map(|line| line.strip_prefix(MARK))?;
        serde_json::from_str(text).ok()
    }

    /// Returns the line for a lab's `hosts`.
    pub fn to_hosts_line(&self) -> String {
        let text = serde_json::to_string(self).expect("no maps with foreign keys");
        format!("{MARK}{text}\n")
    }
}

/// Returns the names in the caller's `hosts` to add to a lab's, without the description of an outer
/// lab.
pub fn read_other_hosts() -> String {
    strip_own(&fs::read_to_string(HOSTS).unwrap_or_default())
}

fn strip_own(hosts: &str) -> String {
    let is_own = |line: &&str| {
        line.starts_with(MARK)
            || line.split_once(' ').is_some_and(|(address, names)| {
                matches!(names, "near" | "far")
                    && address
                        .parse()
                        .is_ok_and(|ip: IpAddr| Ends::is_lab_address(&ip))
            })
    };
    let kept = hosts.lines().filter(|line| !is_own(line));
    kept.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_reads_back() {
        let told = OuterLab {
            internet: true,
            networks_taken: [3, 700].into(),
            ..OuterLab::default()
        };
        let hosts = format!("127.0.0.1 localhost\n{}", told.to_hosts_line());
        assert_eq!(OuterLab::read(&hosts), Some(told));
        assert_eq!(
            OuterLab::read("127.0.0.1 localhost\n# eyelevel lab: {\n"),
            None
        );
    }

    #[test]
    fn a_labs_own_names_are_not_passed_on() {
        let others = "127.0.0.1 localhost\n10.0.0.7 far\n192.0.2.1 a.example far\n";
        let own = "100.64.3.2 near\nfd65:7965:6c65:3::1 far\n";
        let hosts = format!("{}{own}{others}", OuterLab::default().to_hosts_line());
        assert_eq!(strip_own(&hosts), others);
    }
}
