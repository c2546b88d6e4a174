//! Streaming JSON reader: no list or object of a hostile file is held in memory as a whole.

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Reads all of `json` with `seed`; the error gives the line and column.
pub fn read<'de>(
    json: &'de [u8],
    seed: impl DeserializeSeed<'de>,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    seed.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// A seed for an object that reads one member and skips the others.
pub struct Member<S> {
    name: &'static str,
    seed: S,
}

impl<S> Member<S> {
    /// Creates a seed that reads the member `name` with `seed` and refuses an object without it.
    pub fn new(name: &'static str, seed: S) -> Self {
        Self { name, seed }
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Member<S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Member<S> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "an object with the member `{}`", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seed = Some(self.seed);
        while let Some(is_it) = map.next_key_seed(Is(self.name))? {
            if !is_it {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let seed = seed.take();
            map.next_value_seed(seed.ok_or_else(|| A::Error::duplicate_field(self.name))?)?;
        }
        match seed {
            None => Ok(()),
            Some(_) => Err(A::Error::missing_field(self.name)),
        }
    }
}

/// A seed that returns whether a key is this one, without copying a key of gigabytes.
struct Is(&'static str);

impl<'de> DeserializeSeed<'de> for Is {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is {
    type Value = bool;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// A seed for an object that reads every member, with the seed that the function returns for its
/// name.
pub struct Members<F>(pub F);

impl<'de, S: DeserializeSeed<'de>, F: FnMut(String) -> S> DeserializeSeed<'de> for Members<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de>, F: FnMut(String) -> S> Visitor<'de> for Members<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key()? {
            map.next_value_seed((self.0)(key))?;
        }
        Ok(())
    }
}

/// A seed that passes one value to a function.
pub struct Value<T, F> {
    take: F,
    value: PhantomData<T>,
}

impl<T, F: FnOnce(T) -> Result<(), String>> Value<T, F> {
    /// Creates a seed that passes the value to `take`.
    pub fn new(take: F) -> Self {
        let value = PhantomData;
        Self { take, value }
    }
}

impl<'de, T, F> DeserializeSeed<'de> for Value<T, F>
where
    T: Deserialize<'de>,
    F: FnOnce(T) -> Result<(), String>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        (self.take)(T::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A seed for a list that passes its elements to a function one at a time, up to its first error.
pub struct Elements<T, F> {
    take: F,
    element: PhantomData<T>,
}

impl<T, F: FnMut(T) -> Result<(), String>> Elements<T, F> {
    /// Creates a seed that passes each element to `take`.
    pub fn new(take: F) -> Self {
        let element = PhantomData;
        Self { take, element }
    }
}

impl<'de, T, F> DeserializeSeed<'de> for Elements<T, F>
where
    T: Deserialize<'de>,
    F: FnMut(T) -> Result<(), String>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T, F> Visitor<'de> for Elements<T, F>
where
    T: Deserialize<'de>,
    F: FnMut(T) -> Result<(), String>,
{
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            (self.take)(element).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// A seed for an object or a list that also accepts other values: null, which some writers use for
/// empty, and kinds that no writer produces, which are skipped.
pub struct OrOther<S, F> {
    is_list: bool,
    seed: S,
    on_other: F,
}

impl<S, F: FnOnce()> OrOther<S, F> {
    /// Creates a seed that reads an object with `seed`, or calls `on_other` for another value.
    pub fn object(seed: S, on_other: F) -> Self {
        Self {
            is_list: false,
            seed,
            on_other,
        }
    }

    /// Creates a seed that reads a list with `seed`, or calls `on_other` for another value.
    pub fn list(seed: S, on_other: F) -> Self {
        Self {
            is_list: true,
            seed,
            on_other,
        }
    }

    fn pass<E>(self) -> Result<(), E> {
        (self.on_other)();
        Ok(())
    }
}

impl<'de, S: DeserializeSeed<'de, Value = ()>, F: FnOnce()> DeserializeSeed<'de> for OrOther<S, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: DeserializeSeed<'de, Value = ()>, F: FnOnce()> Visitor<'de> for OrOther<S, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if !self.is_list {
            return self.seed.deserialize(MapAccessDeserializer::new(map));
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.pass()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.is_list {
            return self.seed.deserialize(SeqAccessDeserializer::new(list));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.pass()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.pass()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.pass()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.pass()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.pass()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.pass()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.pass()
    }
}
