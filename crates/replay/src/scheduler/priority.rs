use std::fmt;

/// The default urgency of a response (RFC 9218, section 4.1).
const URGENCY_DEFAULT: u8 = 3;
const URGENCY_MAX: u8 = 7;

/// The priority of a response (RFC 9218).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// 0, most urgent, to 7.
    pub urgency: u8,
    /// Whether parts of it are useful before the whole.
    pub incremental: bool,
}

impl Default for Priority {
    fn default() -> Self {
        Self {
            urgency: URGENCY_DEFAULT,
            incremental: false,
        }
    }
}

impl Priority {
    /// The priority of every response if priorities are ignored: all share the connection, in turn.
    pub const ALIKE: Self = Self {
        urgency: URGENCY_DEFAULT,
        incremental: true,
    };

    /// Parses the `priority` field's value, a dictionary of RFC 8941; invalid members are ignored
    /// (RFC 9218, section 4).
    pub fn parse(field: &str) -> Self {
        let mut priority = Self::default();
        for member in field.split(',') {
            let member = member.split(';').next().unwrap_or("").trim();
            match member.split_once('=') {
                None if member == "i" => priority.incremental = true,
                Some(("i", "?1")) => priority.incremental = true,
                Some(("i", "?0")) => priority.incremental = false,
                Some(("u", urgency)) => match urgency.parse() {
                    Ok(urgency @ 0..=URGENCY_MAX) => priority.urgency = urgency,
                    _ => priority.urgency = URGENCY_DEFAULT,
                },
                _ => {}
            }
        }
        priority
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let incremental = if self.incremental { ", i" } else { "" };
        write!(formatter, "u={}{incremental}", self.urgency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_parsed_by_rfc_9218() {
        for (field, urgency, incremental) in [
            ("", 3, false),
            ("u=0", 0, false),
            ("u=5, i", 5, true),
            ("i,u=1", 1, true),
            ("i=?0", 3, false),
            ("i=?1;x=1, u=2;y", 2, true),
            ("u=9", 3, false),
            ("u=-1, z=4", 3, false),
        ] {
            let expected = Priority {
                urgency,
                incremental,
            };
            assert_eq!(Priority::parse(field), expected, "{field}");
        }
    }
}
