//! JSON members of unexpected types: a value is stored unparsed and read when its type is known;
//! one of another kind is skipped, whatever its size. So an invalid member affects only itself.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::limits::HEAD_FIELDS_MAX;

/// An unparsed value of any kind.
#[derive(Clone, Copy, Default)]
pub struct Leaf<'a>(&'a str);

impl<'de> Deserialize<'de> for Leaf<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &RawValue = Deserialize::deserialize(deserializer)?;
        Ok(Self(raw.get()))
    }
}

impl<'a> Leaf<'a> {
    /// Whether the member is missing or null.
    pub fn is_absent(self) -> bool {
        matches!(self.0, "" | "null")
    }

    /// Returns a string value. Lone surrogates become U+FFFD, as when a browser sends a script's
    /// text.
    pub fn text(self) -> Option<String> {
        if !self.0.starts_with('"') {
            return None;
        }
        let mut deserializer = serde_json::Deserializer::from_str(self.0);
        let bytes = deserializer.deserialize_bytes(Bytes).ok()?;
        Some(String::from_utf8(bytes).unwrap_or_else(|error| replace_surrogates(error.as_bytes())))
    }

    /// Returns a string, or a number as written.
    pub fn word(self) -> Option<String> {
        let is_number = |text: &str| serde_json::from_str::<f64>(text).is_ok();
        let number = || is_number(self.0).then(|| self.0.to_owned());
        self.text().or_else(number)
    }

    /// Returns an integer, also from a string or with a fraction of zeros.
    pub fn integer(self) -> Option<i64> {
        let word = self.word()?;
        let word = word.trim();
        let fraction = || {
            word.parse()
                .ok()
                .filter(|number: &f64| number.fract() == 0.0)
        };
        let whole = |number: f64| (number.abs() < 9e15).then_some(number as i64);
        word.parse().ok().or_else(|| whole(fraction()?))
    }

    /// Returns a number, or `None` for any other value.
    pub fn number(self) -> Option<f64> {
        serde_json::from_str(self.0).ok()
    }

    /// Returns the value as `T`, or `None` if it is none.
    pub fn read<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.0).ok()
    }

    /// Returns the value as written, shortened, for messages.
    pub fn to_message(self) -> String {
        let shown = self.text().unwrap_or_else(|| self.0.to_owned());
        shown.chars().take(40).collect()
    }
}

/// A visitor for strings as bytes, in which lone surrogates are encoded like characters.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_vec())
    }
}

/// Returns the text with U+FFFD in place of each lone surrogate, which takes three bytes.
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut replaced = bytes.to_vec();
    let mut at = 0;
    while let Some(found) = replaced[at..].iter().position(|&byte| byte == 0xed) {
        at += found + 1;
        if replaced.get(at).is_some_and(|second| *second >= 0xa0) && at + 1 < replaced.len() {
            replaced[at - 1..at + 2].copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    String::from_utf8_lossy(&replaced).into_owned()
}

/// A struct that is filled from the members of an object.
pub trait Object<'de>: Default {
    /// Reads the value of the member `key`. Of two with the same name, the last one counts, as in a
    /// browser.
    fn take<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Declares a struct and the members that it is filled from; others are skipped.
macro_rules! object {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $kind:ty = $key:literal,)* }) => {
        $(#[$about])*
        #[derive(Default)]
        pub struct $name<'a> { $($(#[$of])* pub $field: $kind,)* }

        impl<'a> $crate::import::json_loose::Object<'a> for $name<'a> {
            fn take<A: serde::de::MapAccess<'a>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match key {
                    $($key => self.$field = map.next_value()?,)*
                    _ => {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                }
                Ok(())
            }
        }
    };
}
pub(super) use object;

/// An object, or `None` for a value of another kind.
pub struct Maybe<T>(pub Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Object<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(Anything(ObjectOf(PhantomData)))
            .map(Self)
    }
}

struct ObjectOf<T>(PhantomData<T>);

impl<'de, T: Object<'de>> Wanted<'de> for ObjectOf<T> {
    type Value = T;

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        let mut object = T::default();
        while let Some(Key(key)) = map.next_key()? {
            object.take(&key, &mut map)?;
        }
        Ok(Some(object))
    }
}

/// A member's name, borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = Key<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(Name)
    }
}

object! {
    /// A header field.
    Field {
        name: Leaf<'a> = "name",
        value: Leaf<'a> = "value",
    }
}

/// A list of header fields.
#[derive(Default)]
pub enum Fields<'a> {
    /// The value is null or missing.
    #[default]
    Absent,
    /// The elements that are objects.
    List(Vec<Field<'a>>),
    /// The list has more elements than a head may have fields.
    TooMany,
    /// The value is of another kind.
    NoList,
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_any(Anything(ListOfFields))?;
        Ok(fields.unwrap_or(Self::NoList))
    }
}

struct ListOfFields;

impl<'de> Wanted<'de> for ListOfFields {
    type Value = Fields<'de>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<Self::Value>, A::Error> {
        let mut fields = Vec::new();
        while let Some(Maybe(field)) = list.next_element()? {
            if fields.len() == HEAD_FIELDS_MAX {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Some(Fields::TooMany));
            }
            fields.extend(field);
        }
        Ok(Some(Fields::List(fields)))
    }

    fn null(self) -> Option<Self::Value> {
        Some(Fields::Absent)
    }
}

/// A visitor for the expected kinds of a value; others are read to their end and dropped.
trait Wanted<'de>: Sized {
    type Value;

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Self::Value>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<Self::Value>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn null(self) -> Option<Self::Value> {
        None
    }
}

struct Anything<W>(W);

impl<'de, W: Wanted<'de>> Visitor<'de> for Anything<W> {
    type Value = Option<W::Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        self.0.list(list)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(self.0.null())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(json: &str) -> Leaf<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_leaf_is_read_as_what_it_should_be() {
        for (json, text, word, integer, number) in [
            (r#""a\nb""#, Some("a\nb"), Some("a\nb"), None, None),
            (r#""12""#, Some("12"), Some("12"), Some(12), None),
            ("12", None, Some("12"), Some(12), Some(12.0)),
            ("1.0", None, Some("1.0"), Some(1), Some(1.0)),
            ("-1e300", None, Some("-1e300"), None, Some(-1e300)),
            ("1.5", None, Some("1.5"), None, Some(1.5)),
            (
                r#""\ud800x""#,
                Some("\u{fffd}x"),
                Some("\u{fffd}x"),
                None,
                None,
            ),
            (r#""\ud83d\ude00""#, Some("😀"), Some("😀"), None, None),
            ("null", None, None, None, None),
            ("true", None, None, None, None),
            ("[1]", None, None, None, None),
            (r#"{"a": 1}"#, None, None, None, None),
        ] {
            let leaf = leaf(json);
            assert_eq!(leaf.text().as_deref(), text, "{json}");
            assert_eq!(leaf.word().as_deref(), word, "{json}");
            assert_eq!((leaf.integer(), leaf.number()), (integer, number), "{json}");
            assert_eq!(leaf.is_absent(), json == "null");
        }
        assert!(Leaf::default().is_absent());
    }

    #[test]
    fn other_values_are_skipped() {
        for (json, name) in [
            (r#"{"name": "a", "x": [1, {}], "name": "b"}"#, Some("b")),
            (r#"{"name": 5}"#, None),
            (r#""name""#, None),
            ("[1, [2.5, -3], {}]", None),
            ("true", None),
            ("7", None),
            ("null", None),
        ] {
            let found: Maybe<Field> = serde_json::from_str(json).unwrap();
            let found = found.0.and_then(|field| field.name.text());
            assert_eq!(found.as_deref(), name, "{json}");
        }
    }
}
