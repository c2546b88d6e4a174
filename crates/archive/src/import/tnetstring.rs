//! Typed netstrings, as mitmproxy writes its flows (`mitmproxy/io/tnetstring.py`).

use bytes::Bytes;

/// How deep values may be nested; flows have five levels.
const DEPTH_MAX: usize = 32;
/// Digits of a length: a gigabyte has ten.
const LENGTH_DIGITS_MAX: usize = 10;

/// One value; what an importer does not look at is `Other`.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Bytes or a text.
    Bytes(Bytes),
    /// An integer or a float.
    Number(f64),
    /// A list.
    List(Vec<Value>),
    /// A dictionary.
    Map(Vec<(Bytes, Value)>),
    /// Null or a truth value.
    Other,
}

impl Value {
    /// The entry `name` of a dictionary.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let Self::Map(entries) = self else {
            return None;
        };
        let found = entries.iter().find(|(key, _)| &key[..] == name.as_bytes());
        found.map(|(_, value)| value)
    }

    /// As bytes.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// As text.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// As a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// As a list.
    pub fn list(&self) -> &[Value] {
        match self {
            Self::List(values) => values,
            _ => &[],
        }
    }
}

/// Reads the value at `at` and moves `at` behind it.
pub fn parse(content: &Bytes, at: &mut usize) -> Option<Value> {
    parse_nested(content, at, DEPTH_MAX)
}

fn parse_nested(content: &Bytes, at: &mut usize, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let rest = content.get(*at..)?;
    let colon = rest
        .iter()
        .take(LENGTH_DIGITS_MAX + 1)
        .position(|&byte| byte == b':')?;
    let length: usize = std::str::from_utf8(&rest[..colon]).ok()?.parse().ok()?;
    let start = *at + colon + 1;
    let end = start.checked_add(length)?;
    let kind = *content.get(end)?;
    let payload = content.slice(start..end);
    *at = end + 1;
    let text = || std::str::from_utf8(&payload).ok();
    let all = || {
        let (mut values, mut inner) = (Vec::new(), 0);
        while inner < payload.len() {
            values.push(parse_nested(&payload, &mut inner, depth)?);
        }
        Some(values)
    };
    Some(match kind {
        b',' | b';' => Value::Bytes(payload),
        b'#' | b'^' => Value::Number(text()?.parse().ok()?),
        b'!' | b'~' => Value::Other,
        b']' => Value::List(all()?),
        b'}' => {
            let mut entries = Vec::new();
            let mut values = all()?.into_iter();
            while let Some(key) = values.next() {
                entries.push((key.bytes()?.clone(), values.next()?));
            }
            Value::Map(entries)
        }
        _ => return None,
    })
}
