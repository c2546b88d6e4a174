//! Typed netstrings, mitmproxy's format for flows (`mitmproxy/io/tnetstring.py`).
//!
//! Values are validated once and then read in place: a tree of them would take twenty times the
//! bytes of a hostile file.

use bytes::Bytes;

/// The deepest nesting of values; flows have five levels.
const DEPTH_MAX: usize = 32;
/// The most digits of a length: a gigabyte has ten.
const LENGTH_DIGITS_MAX: usize = 10;
/// The most entries of one dictionary, since each look-up scans it; flows have thirty.
const ENTRIES_MAX: usize = 1_000;

/// A valid value, parsed further on demand.
#[derive(Debug, Clone)]
pub struct Value {
    kind: Kind,
    payload: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Bytes or a text.
    Bytes,
    /// An integer or a float.
    Number,
    List,
    Map,
    /// Null or a boolean, which no importer uses.
    Other,
}

impl Value {
    /// Returns the entry `name` of a dictionary.
    pub fn get(&self, name: &str) -> Option<Value> {
        if self.kind != Kind::Map {
            return None;
        }
        let mut items = self.items();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            if key.payload == name {
                return Some(value);
            }
        }
        None
    }

    /// Returns the value as bytes.
    pub fn bytes(&self) -> Option<&Bytes> {
        (self.kind == Kind::Bytes).then_some(&self.payload)
    }

    /// Returns the value as text.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Returns the value as a number.
    pub fn number(&self) -> Option<f64> {
        number(self.kind, &self.payload)
    }

    /// Iterates over the elements of a list; empty for any other value.
    pub fn list(&self) -> impl Iterator<Item = Value> + '_ {
        self.items().take_while(|_| self.kind == Kind::List)
    }

    /// Whether the value is null or a boolean.
    pub fn is_null_or_truth(&self) -> bool {
        self.kind == Kind::Other
    }

    fn items(&self) -> impl Iterator<Item = Value> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (kind, payload) = item(&self.payload, &mut at)?;
            let payload = self.payload.slice_ref(payload);
            Some(Value { kind, payload })
        })
    }
}

/// Parses the value at `at` and moves `at` past it, or returns `None` if any part of it is invalid.
pub fn parse(content: &Bytes, at: &mut usize) -> Option<Value> {
    let (kind, payload) = item(content, at)?;
    is_sound(kind, payload, DEPTH_MAX).then(|| Value {
        kind,
        payload: content.slice_ref(payload),
    })
}

/// Returns the kind and payload of the value at `at`, without validating its elements.
fn item<'a>(content: &'a [u8], at: &mut usize) -> Option<(Kind, &'a [u8])> {
    let rest = content.get(*at..)?;
    let colon = rest
        .iter()
        .take(LENGTH_DIGITS_MAX + 1)
        .position(|&byte| byte == b':')?;
    let length: usize = std::str::from_utf8(&rest[..colon]).ok()?.parse().ok()?;
    let end = (colon + 1).checked_add(length)?;
    let kind = match *rest.get(end)? {
        b',' | b';' => Kind::Bytes,
        b'#' | b'^' => Kind::Number,
        b'!' | b'~' => Kind::Other,
        b']' => Kind::List,
        b'}' => Kind::Map,
        _ => return None,
    };
    *at += end + 1;
    Some((kind, &rest[colon + 1..end]))
}

fn is_sound(kind: Kind, payload: &[u8], depth_left: usize) -> bool {
    match kind {
        Kind::Bytes | Kind::Other => return true,
        Kind::Number => return number(kind, payload).is_some(),
        Kind::List | Kind::Map => {}
    }
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return false;
    };
    let (mut at, mut items) = (0, 0);
    while at < payload.len() {
        let Some((inner, content)) = item(payload, &mut at) else {
            return false;
        };
        let is_key = kind == Kind::Map && items % 2 == 0;
        let is_in_place = !is_key || (inner == Kind::Bytes && items < 2 * ENTRIES_MAX);
        if !(is_in_place && is_sound(inner, content, depth_left)) {
            return false;
        }
        items += 1;
    }
    kind == Kind::List || items % 2 == 0
}

fn number(kind: Kind, payload: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(payload).ok()?;
    (kind == Kind::Number).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Value> {
        let mut at = 0;
        parse(&Bytes::copy_from_slice(text.as_bytes()), &mut at)
    }

    #[test]
    fn values_are_read_in_place() {
        let value = read("24:1:a,2:12#1:b,8:1:x,1:y;]}").unwrap();
        assert_eq!(value.get("a").unwrap().number(), Some(12.0));
        let list = value.get("b").unwrap();
        let texts: Vec<_> = list
            .list()
            .map(|each| each.text().unwrap().to_owned())
            .collect();
        assert_eq!(texts, ["x", "y"]);
        assert!(value.get("c").is_none() && value.list().next().is_none());
        assert!(read("0:~").unwrap().is_null_or_truth());
    }

    #[test]
    fn invalid_values_are_refused() {
        let deep = |levels| {
            (0..levels).fold(String::new(), |inner, _| {
                format!("{}:{inner}]", inner.len())
            })
        };
        assert!(read(&deep(DEPTH_MAX)).is_some());
        assert!(read(&deep(DEPTH_MAX + 1)).is_none());
        let entries = |count: usize| {
            let entries = "0:,0:~".repeat(count);
            format!("{}:{entries}}}", entries.len())
        };
        assert!(read(&entries(ENTRIES_MAX)).is_some());
        assert!(read(&entries(ENTRIES_MAX + 1)).is_none());
        for text in [
            "",
            "1:a",
            "2:a,",
            "-1:a,",
            "3:0:,}",
            "6:0:~0:,}",
            "4:1:a?]",
            "1:x#",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
