use crate::SpecError;
use crate::error::At;
use eyelevel_units::{BitRate, Bytes, Duration, Probability, parse_duration};

/// The words of one clause, consumed one by one. Every error quotes the clause.
pub(crate) struct Words<'a> {
    clause: &'a str,
    index: usize,
    rest: &'a str,
}

/// A limit of a queue.
pub(crate) enum Limit {
    Ms(f64),
    Bytes(u64),
    Packets(u64),
}

impl<'a> Words<'a> {
    pub(crate) fn new(clause: &'a str, index: usize) -> Self {
        let clause = clause.trim();
        Self {
            clause,
            index,
            rest: clause,
        }
    }

    pub(crate) fn place(&self) -> String {
        format!("clause {} ({:?})", self.index + 1, self.clause)
    }

    pub(crate) fn error(&self, problem: &str, remedy: &str) -> SpecError {
        SpecError::setting(self.place(), problem, remedy)
    }

    /// Returns the next word.
    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a str, SpecError> {
        let word = self.peek().ok_or_else(|| {
            self.error(
                "something is missing at the end",
                &format!("add {expected}"),
            )
        })?;
        self.advance(word);
        Ok(word)
    }

    /// Consumes the next word if it is `word`.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        if found {
            self.advance(word);
        }
        found
    }

    /// Returns whether the next word is `word`, without consuming it.
    pub(crate) fn is_next(&self, word: &str) -> bool {
        self.peek() == Some(word)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.peek().is_none()
    }

    /// Refuses left-over words.
    pub(crate) fn end(&self) -> Result<(), SpecError> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(self.error(
                &format!("{word:?} is too much"),
                "remove it, or put a comma before the next stage",
            )),
        }
    }

    /// Returns the next word, with the unit after it if the word is a bare number.
    pub(crate) fn quantity(&mut self, expected: &str) -> Result<String, SpecError> {
        let number = self.word(expected)?;
        let bare = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let unit = self.peek().filter(|word| bare && is_unit(word));
        if let Some(unit) = unit {
            self.advance(unit);
        }
        Ok(format!("{number}{}", unit.unwrap_or("")))
    }

    pub(crate) fn rate(&mut self) -> Result<BitRate, SpecError> {
        let text = self.quantity("a rate, such as 25 Mbit/s")?;
        text.parse().at(|| self.place())
    }

    pub(crate) fn ms(&mut self) -> Result<f64, SpecError> {
        let text = self.quantity("a time, such as 20 ms")?;
        Ok(as_ms(parse_duration(&text).at(|| self.place())?))
    }

    pub(crate) fn probability(&mut self) -> Result<f64, SpecError> {
        let text = self.quantity("a probability, such as 1%")?;
        Ok(text.parse::<Probability>().at(|| self.place())?.get())
    }

    pub(crate) fn count<T: core::str::FromStr>(&mut self, expected: &str) -> Result<T, SpecError> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| self.not_a_number(word, expected))
    }

    fn not_a_number(&self, word: &str, expected: &str) -> SpecError {
        self.error(
            &format!("{word:?} is no number"),
            &format!("write {expected}"),
        )
    }

    /// Parses a number without a unit; infinity is refused, since JSON could not represent it.
    pub(crate) fn number(&mut self, expected: &str) -> Result<f64, SpecError> {
        let word = self.word(expected)?;
        let finite = word.parse().ok().filter(|number: &f64| number.is_finite());
        finite.ok_or_else(|| self.not_a_number(word, expected))
    }

    /// Returns a file's name: one word, so it cannot contain a space or a comma.
    pub(crate) fn file(&mut self) -> Result<&'a str, SpecError> {
        self.word("a file's name (one with a space or comma needs the JSON form)")
    }

    pub(crate) fn limit(&mut self) -> Result<Limit, SpecError> {
        const REMEDY: &str = "use a time (200 ms), a size (64 kB) or a count (100 packets)";
        let text = self.quantity("a limit: a time, a size or a count of packets")?;
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if unit == "packets" || unit == "packet" {
            let count = text[..text.len() - unit.len()].parse();
            return count.map(Limit::Packets).map_err(|_| {
                self.error(&format!("{text:?} is no whole number of packets"), REMEDY)
            });
        }
        if let Ok(duration) = parse_duration(&text) {
            return Ok(Limit::Ms(as_ms(duration)));
        }
        let bytes = text.parse::<Bytes>();
        bytes
            .map(|bytes| Limit::Bytes(bytes.get()))
            .map_err(|_| self.error(&format!("{text:?} is no limit"), REMEDY))
    }

    /// Parses a size in bytes.
    pub(crate) fn bytes(&mut self, expected: &str) -> Result<u64, SpecError> {
        let text = self.quantity(expected)?;
        Ok(text.parse::<Bytes>().at(|| self.place())?.get())
    }

    /// Parses a count of packets, with or without the word "packets".
    pub(crate) fn packets(&mut self) -> Result<u64, SpecError> {
        let count = self.count("a count of packets, such as 1000")?;
        let _ = self.take("packets");
        Ok(count)
    }

    pub(crate) fn unknown_setting(&self, setting: &str, known: &str) -> SpecError {
        self.error(
            &format!("unknown setting {setting:?}"),
            &format!("use {known}"),
        )
    }

    /// Splits the next word at its `=`; a unit may be apart on the right.
    pub(crate) fn pair(&mut self, expected: &str) -> Result<(&'a str, String), SpecError> {
        let word = self.word(expected)?;
        let Some((left, right)) = word.split_once('=') else {
            return Err(self.error(
                &format!("{word:?} has no \"=\""),
                &format!("write {expected}"),
            ));
        };
        let bare = right
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let unit = self.peek().filter(|word| bare && is_unit(word));
        if let Some(unit) = unit {
            self.advance(unit);
        }
        Ok((left, format!("{right}{}", unit.unwrap_or(""))))
    }

    fn peek(&self) -> Option<&'a str> {
        self.rest.split_whitespace().next()
    }

    fn advance(&mut self, word: &str) {
        self.rest = &self.rest.trim_start()[word.len()..];
    }
}

/// Returns whether a word can be the unit of the number before it.
fn is_unit(word: &str) -> bool {
    const UNITS: [&str; 12] = [
        "ns", "us", "µs", "ms", "s", "b", "kb", "mb", "gb", "%", "packets", "packet",
    ];
    // Not "min", which is a setting of a queue.
    const LIKE_A_TIME: [&str; 6] = ["sec", "secs", "second", "seconds", "msec", "minutes"];
    // A word such as "MB/s" is meant as a unit too, and the quantity's own message is the clearest.
    let lower = word.to_lowercase();
    let like_a_rate = lower.chars().all(|c| c.is_alphabetic() || c == '/')
        && (lower.contains("bit") || lower.ends_with("bps") || lower.contains('/'));
    UNITS.contains(&lower.as_str()) || LIKE_A_TIME.contains(&lower.as_str()) || like_a_rate
}

/// Converts to milliseconds; exact to the nanosecond below eleven days.
pub(crate) fn as_ms(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}
