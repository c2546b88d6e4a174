use std::fmt;

/// The rule by which a response was found; `docs/reference/matching.md` has the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// The same method and URL.
    Exact,
    /// The same URL, recorded for GET, requested by HEAD.
    Head,
    /// The same method and URL, but another request body.
    Body,
    /// The same path and parameters, except for those that are known to change with every load.
    CacheBuster,
    /// The same path; the recorded query with the most equal parameters.
    Query,
    /// The longest common prefix of path and query; only if the plan allows it.
    Prefix,
    /// A CORS preflight for a recorded URL, answered as a server that allows it would.
    Preflight,
    /// Nothing recorded answers the request.
    Miss,
}

/// Every variant with its name in headers, events and tables.
pub const HOW_NAMES: [(How, &str); 8] = [
    (How::Exact, "exact"),
    (How::Head, "head"),
    (How::Body, "body"),
    (How::CacheBuster, "cache-buster"),
    (How::Query, "query"),
    (How::Prefix, "prefix"),
    (How::Preflight, "preflight"),
    (How::Miss, "miss"),
];

impl How {
    /// Returns the name in headers, events and tables.
    pub fn as_str(self) -> &'static str {
        HOW_NAMES[self as usize].1
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_type_and_in_the_reference() {
        let reference = include_str!("../../../../docs/reference/matching.md");
        for (how, name) in HOW_NAMES {
            assert_eq!(how.as_str(), name);
            assert!(reference.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
