//! A member that may be anything: what is not of the expected form is passed over, whatever its size.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The text of the member `url` of an object; none of everything else.
#[derive(Default)]
pub struct UrlOf(pub Option<String>);

impl<'de> Deserialize<'de> for UrlOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Loose::ObjectWithUrl.deserialize(deserializer).map(Self)
    }
}

/// A number; none of everything else.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Number {
    Is(f64),
    IsNot(IgnoredAny),
}

impl Number {
    /// The number, where it is one.
    pub fn get(&self) -> Option<f64> {
        match self {
            Self::Is(number) => Some(*number),
            Self::IsNot(_) => None,
        }
    }
}

/// What is wanted of a value of any kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loose {
    ObjectWithUrl,
    Text,
}

impl<'de> DeserializeSeed<'de> for Loose {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Loose {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok((self == Self::Text).then(|| text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if self == Self::ObjectWithUrl && key == "url" {
                found = map.next_value_seed(Self::Text)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
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
    use super::UrlOf;

    #[test]
    fn only_the_url_of_an_object_is_taken() {
        for (json, expected) in [
            (
                r#"{"type": "script", "url": "https://a.test/"}"#,
                Some("https://a.test/"),
            ),
            (r#"{"url": null}"#, None),
            (r#"{"url": {"url": "x"}}"#, None),
            (r#"{"url": ["x"]}"#, None),
            (r#"{"type": "other"}"#, None),
            (r#""https://a.test/""#, None),
            ("[1, [2.5, -3], {}]", None),
            ("true", None),
            ("7", None),
            ("null", None),
        ] {
            let found: UrlOf = serde_json::from_str(json).unwrap();
            assert_eq!(found.0.as_deref(), expected, "{json}");
        }
    }
}
