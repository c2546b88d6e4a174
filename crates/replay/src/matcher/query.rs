use std::hash::{DefaultHasher, Hash, Hasher};

/// Parameters whose value changes with every load and does not affect the response. Compared in
/// lower case, `-` and `_` removed.
const CACHE_BUSTER_NAMES: [&str; 28] = [
    "",
    "cachebust",
    "cachebuster",
    "cb",
    "ck",
    "correlator",
    "guid",
    "jsessionid",
    "nc",
    "nocache",
    "nonce",
    "ord",
    "phpsessid",
    "r",
    "rand",
    "random",
    "rnd",
    "rn",
    "sessid",
    "session",
    "sessionid",
    "sid",
    "t",
    "time",
    "timestamp",
    "ts",
    "uuid",
    "z",
];
/// The fewest digits of a random number or time stamp (seconds since 1970 have ten).
const NUMBER_DIGITS_MIN: usize = 10;
/// The fewest digits after `0.` that `Math.random` prints.
const FRACTION_DIGITS_MIN: usize = 8;
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// A query's parameters as hashes, so that two queries are compared without their texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    /// Names and values of the parameters that matter, sorted.
    pairs: Vec<u64>,
    /// Names of the parameters that matter, sorted.
    names: Vec<u64>,
}

impl Query {
    /// Parses the query of a target.
    pub fn new(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let in_path = path[find_parameters(path)..].split(';');
        let mut pairs = Vec::new();
        let mut names = Vec::new();
        for parameter in in_path.chain(query.split('&')) {
            if parameter.is_empty() {
                continue;
            }
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if is_cache_buster(name, value) {
                continue;
            }
            pairs.push(hash(parameter));
            names.push(hash(name));
        }
        pairs.sort_unstable();
        names.sort_unstable();
        Self { pairs, names }
    }

    /// Returns whether all parameters that matter are equal, in any order.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.pairs == other.pairs
    }

    /// Returns the likeness to `other`, greatest for the most alike: equal parameters first, then
    /// equal names, then fewer others.
    pub fn likeness(&self, other: &Self) -> (usize, usize, isize) {
        let surplus = -other.pairs.len().cast_signed();
        (
            count_common(&self.pairs, &other.pairs),
            count_common(&self.names, &other.names),
            surplus,
        )
    }
}

/// Returns the path without its query and without the parameters of its last segment (`/a;x=1`, RFC
/// 3986, section 3.3), which are compared as the query's are; and without the random number at the
/// end of the paths of Adobe's beacons (`/b/ss/SUITE/1/H.27/s75255655290497`).
pub(super) fn stem(target: &str) -> &str {
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let path = &path[..find_parameters(path)];
    let name = path.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_random = path.len() - name.len() >= FRACTION_DIGITS_MIN;
    if is_random && path.starts_with("/b/ss/") && name.ends_with("/s") {
        name
    } else {
        path
    }
}

fn find_parameters(path: &str) -> usize {
    let segment = path.rfind('/').unwrap_or(0);
    let parameters = path[segment..].find(';');
    parameters.map_or(path.len(), |at| segment + at)
}

fn is_cache_buster(name: &str, value: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|character| !"-_".contains(*character))
        .map(|character| character.to_ascii_lowercase())
        .collect();
    // A short name alone is no evidence: `t=dark` may select another response, `t=1700000000` does
    // not.
    let is_named = CACHE_BUSTER_NAMES.contains(&plain.as_str());
    is_time_or_random(value)
        || (is_named && is_generated(value))
        || (value.is_empty() && is_time_or_random(name))
}

/// Returns whether the value is a time stamp, a result of `Math.random` or a UUID: generated
/// whatever the parameter's name is.
fn is_time_or_random(value: &str) -> bool {
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(fraction) = value.strip_prefix("0.") {
        return fraction.len() >= FRACTION_DIGITS_MIN && all_digits(fraction);
    }
    let is_time = all_digits(value) && is_unix_time(value);
    let is_uuid = value.len() == 36
        && value.split('-').map(str::len).eq(UUID_GROUPS)
        && value
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    is_time || is_uuid
}

/// Returns whether the digits are seconds, milliseconds or microseconds since 1970, from 2001 to
/// 2065: an identifier of ten digits outside that range stays a parameter that matters.
fn is_unix_time(digits: &str) -> bool {
    let seconds = match digits.len() {
        10 | 13 | 16 => &digits[..10],
        _ => return false,
    };
    ("1000000000".."3000000000").contains(&seconds)
}

fn is_generated(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let only_digits = digits == value.len() && digits > 0;
    only_digits || (value.len() >= NUMBER_DIGITS_MIN && digits > 0) || is_time_or_random(value)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns how many elements two sorted lists share.
fn count_common(left: &[u64], right: &[u64]) -> usize {
    let (mut at, mut count) = (0, 0);
    for value in left {
        while at < right.len() && right[at] < *value {
            at += 1;
        }
        if at < right.len() && right[at] == *value {
            count += 1;
            at += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_busters_are_distinguished_from_parameters_that_matter() {
        for (name, value, expected) in [
            ("_", "1519210645123", true),
            ("anything", "1519210645", true),
            ("x", "0.8234567891", true),
            ("id", "123e4567-e89b-12d3-a456-426614174000", true),
            ("cb", "42", true),
            ("rnd", "a8f9b7c6d5e4", true),
            ("cache-buster", "17", true),
            ("1519210645123", "", true),
            ("t", "dark", false),
            ("id", "42", false),
            ("page", "2", false),
            ("v", "1.2.3", false),
            ("fbid", "9999999999", false),
            ("q", "", false),
        ] {
            assert_eq!(is_cache_buster(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn random_numbers_of_beacons_are_no_part_of_their_path() {
        for (target, expected) in [
            (
                "/b/ss/a,b/1/H.27/s75255655290497?AQB=1",
                "/b/ss/a,b/1/H.27/s",
            ),
            ("/b/ss/a,b/1/H.27/s7525;x", "/b/ss/a,b/1/H.27/s7525"),
            ("/b/ss/a,b/1/75255655290497", "/b/ss/a,b/1/75255655290497"),
            ("/status/s75255655290497", "/status/s75255655290497"),
        ] {
            assert_eq!(stem(target), expected);
        }
        let asked = Query::new("/b/ss/a/1/s75255655290497?x=1");
        assert!(asked.is_equal(&Query::new("/b/ss/a/1/s11155655290497?x=1")));
    }

    #[test]
    fn order_does_not_matter_and_more_equal_is_more_similar() {
        let asked = Query::new("/?a=1&b=2&cb=77");
        assert!(asked.is_equal(&Query::new("/?b=2&a=1&cb=78")));
        assert!(!asked.is_equal(&Query::new("/?a=1")));
        let both = asked.likeness(&Query::new("/?b=2&a=1&c=3"));
        let one = asked.likeness(&Query::new("/?a=1"));
        let name = asked.likeness(&Query::new("/?a=7"));
        assert!(both > one && one > name && name > asked.likeness(&Query::new("/?z=1")));
    }
}
