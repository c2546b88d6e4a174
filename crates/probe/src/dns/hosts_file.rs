//! Names that need no server: `localhost`, and those of the machine's hosts file (`hosts(5)`).

use std::collections::HashMap;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// The most bytes read, more than the largest blocking lists have; the rest is ignored.
const BYTES_MAX: u64 = 64 << 20;
const LOCALHOST: &str = "localhost";

/// Names in lower case, with their addresses in the file's order.
#[derive(Debug, Default)]
pub struct HostsFile(HashMap<String, Vec<IpAddr>>);

impl HostsFile {
    /// Reads a file; one that does not exist has no names.
    pub fn read(path: &Path) -> Self {
        let mut bytes = Vec::new();
        if let Ok(file) = std::fs::File::open(path) {
            let _ = file.take(BYTES_MAX).read_to_end(&mut bytes);
        }
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Parses one address per line, followed by its names; `#` begins a comment.
    pub fn parse(text: &str) -> Self {
        let mut found: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_ascii_whitespace();
            let Some(Ok(address)) = words.next().map(str::parse) else {
                continue;
            };
            for name in words {
                found.entry(plain(name)).or_default().push(address);
            }
        }
        Self(found)
    }

    /// Returns the addresses of a name in the file.
    pub fn addresses(&self, name: &str) -> Option<&[IpAddr]> {
        self.0.get(&plain(name)).map(Vec::as_slice)
    }
}

/// Returns both loopback addresses for `localhost` and all names below it, which are never sent to
/// a server (RFC 6761, section 6.3); `None` for other names.
pub fn loopback(name: &str) -> Option<[IpAddr; 2]> {
    let name = plain(name);
    let is_local = name
        .strip_suffix(LOCALHOST)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    is_local.then_some([Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
}

fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_hosts_file_have_all_their_addresses() {
        let text = "127.0.0.1 localhost\n# no 192.0.2.9 a.test\n\t192.0.2.1\tA.test  b.test # c\n\
                    2001:db8::1 a.test.\n192.0.2.2 a.test\nnonsense a.test\n192.0.2.3\n";
        let file = HostsFile::parse(text);
        let of_a: Vec<IpAddr> = ["192.0.2.1", "2001:db8::1", "192.0.2.2"]
            .map(|address| address.parse().unwrap())
            .into();
        assert_eq!(file.addresses("a.TEST."), Some(&of_a[..]));
        assert_eq!(file.addresses("b.test").unwrap().len(), 1);
        assert_eq!(file.addresses("c"), None);
    }

    #[test]
    fn localhost_and_all_below_it_are_loopback() {
        for name in [
            "localhost",
            "LocalHost.",
            "tags.localhost",
            "a.b.localhost.",
        ] {
            assert!(loopback(name).is_some_and(|found| found.iter().all(IpAddr::is_loopback)));
        }
        for name in ["mylocalhost", "localhost.example", "", "local"] {
            assert_eq!(loopback(name), None, "{name}");
        }
    }
}
