use std::fmt;

/// The urgency of a response that says nothing: RFC 9218, section 4.1.
const URGENCY_DEFAULT: u8 = 3;
const URGENCY_MAX: u8 = 7;

/// How urgent a response is (RFC 9218).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// 0, most urgent, to 7.
    pub urgency: u8,
    /// Whether parts of it are of use before the whole.
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
    /// Where priorities do not count: all responses share the connection, in turn.
    pub const ALIKE: Self = Self {
        urgency: URGENCY_DEFAULT,
        incremental: true,
    };

    /// Reads the `priority` field's value, a dictionary of RFC 8941; what is not understood counts
    /// as not said (RFC 9218, section 4).
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
    fn fields_are_read_as_rfc_9218_says() {
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
