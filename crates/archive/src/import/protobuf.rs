//! The few wire types of Protocol Buffers that Mahimahi uses.

use bytes::Bytes;

/// A field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A varint.
    Number(u64),
    /// A string, bytes or a message.
    Bytes(Bytes),
}

impl Value {
    /// Returns the bytes, or `None` for a number.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }

    /// Returns the value as text if it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

/// Iterates over the fields of a message; the error gives the byte at which it is invalid.
pub fn fields(message: &Bytes) -> impl Iterator<Item = Result<(u64, Value), String>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= message.len() {
            return None;
        }
        let begin = at;
        let found = next(message, &mut at);
        if found.is_none() {
            at = message.len();
        }
        Some(found.ok_or_else(|| format!("a protobuf message is broken at its byte {begin}")))
    })
}

fn next(message: &Bytes, at: &mut usize) -> Option<(u64, Value)> {
    let tag = varint(message, at)?;
    let skip = |at: &mut usize, count: usize| {
        *at = at.checked_add(count).filter(|&end| end <= message.len())?;
        Some(Value::Number(0))
    };
    let value = match tag & 7 {
        0 => Value::Number(varint(message, at)?),
        1 => skip(at, 8)?,
        5 => skip(at, 4)?,
        2 => {
            let length = usize::try_from(varint(message, at)?).ok()?;
            let end = at.checked_add(length).filter(|&end| end <= message.len())?;
            let bytes = message.slice(*at..end);
            *at = end;
            Value::Bytes(bytes)
        }
        _ => return None,
    };
    Some((tag >> 3, value))
}

fn varint(message: &Bytes, at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *message.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Appends a field of wire type 2.
pub fn put_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(message, field << 3 | 2);
    put_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

/// Appends a field of wire type 0.
pub fn put_number(message: &mut Vec<u8>, field: u64, number: u64) {
    put_varint(message, field << 3);
    put_varint(message, number);
}

fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}
