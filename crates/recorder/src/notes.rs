//! Sentences about what was not stored, with how often each was said; a bounded number.

use std::collections::BTreeMap;

/// Different sentences; of the rest it is counted how many there were.
const SENTENCES_MAX: usize = 1000;

#[derive(Debug, Default)]
pub struct Notes {
    times: BTreeMap<String, u64>,
    beyond: u64,
}

impl Notes {
    /// Notes a sentence once more.
    pub fn add(&mut self, sentence: String) {
        if self.times.len() < SENTENCES_MAX || self.times.contains_key(&sentence) {
            *self.times.entry(sentence).or_default() += 1;
        } else {
            self.beyond += 1;
        }
    }

    /// How many different sentences there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// The first sentence of those that name what is asked for.
    pub fn about(&self, text: &str) -> Option<&String> {
        self.times.keys().find(|each| each.contains(text))
    }

    /// The first of all.
    pub fn first(&self) -> Option<&String> {
        self.times.keys().next()
    }

    /// Those that are wanted, each with its times, and how many were not kept.
    pub fn told(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let wanted = self.times.iter().filter(|(text, _)| is_wanted(text));
        let sentence = |(text, times): (&String, &u64)| match times {
            1 => text.clone(),
            _ => format!("{text} ({times} times)"),
        };
        let mut told: Vec<String> = wanted.map(sentence).collect();
        if self.beyond > 0 {
            told.push(format!("and {} more", self.beyond));
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_what_was_there_stays() {
        let mut notes = Notes::default();
        for n in 0..SENTENCES_MAX + 5 {
            notes.add(format!("n{n:04}"));
        }
        notes.add("n0001".to_owned());
        assert_eq!(notes.len(), SENTENCES_MAX);
        let told = notes.told(|_| true);
        assert_eq!(told.len(), SENTENCES_MAX + 1);
        assert_eq!(told[1], "n0001 (2 times)");
        assert_eq!(told[SENTENCES_MAX], "and 5 more");
    }
}
