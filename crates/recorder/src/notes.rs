//! Sentences about what was not stored, each with its count; their number is bounded.

use std::collections::BTreeMap;

/// The most different sentences; further ones are only counted.
const SENTENCES_MAX: usize = 1000;

/// The prefix of notes about servers that may not be reached.
pub const REFUSED: &str = "refused: ";

#[derive(Debug, Default)]
pub struct Notes {
    times: BTreeMap<String, u64>,
    beyond: u64,
}

impl Notes {
    /// Adds one occurrence of a sentence.
    pub fn add(&mut self, sentence: String) {
        if self.times.len() < SENTENCES_MAX || self.times.contains_key(&sentence) {
            *self.times.entry(sentence).or_default() += 1;
        } else {
            self.beyond += 1;
        }
    }

    /// Returns the number of different sentences.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the first sentence that contains `text`.
    pub fn about(&self, text: &str) -> Option<&String> {
        self.times.keys().find(|each| each.contains(text))
    }

    /// Returns the first sentence.
    pub fn first(&self) -> Option<&String> {
        self.times.keys().next()
    }

    /// Lists the wanted sentences with their counts, and the number of those that were not stored.
    pub fn list(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let wanted = self.times.iter().filter(|(text, _)| is_wanted(text));
        let sentence = |(text, times): (&String, &u64)| match times {
            1 => text.clone(),
            _ => format!("{text} ({times} times)"),
        };
        let mut sentences: Vec<String> = wanted.map(sentence).collect();
        if self.beyond > 0 {
            sentences.push(format!("and {} more", self.beyond));
        }
        sentences
    }
}

/// What passed through, or was refused, and is not stored.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Failed requests: servers that failed, responses that were cut off.
    pub failed: Notes,
    /// Refusals of servers that a page may not reach.
    pub refused: Notes,
    /// Requests of clients without this run's credentials.
    pub unauthorized: Notes,
}

impl LeftOut {
    /// Returns the number of different sentences.
    pub fn len(&self) -> usize {
        self.failed.len() + self.refused.len() + self.unauthorized.len()
    }

    /// Returns the first sentence about a host, with the remedy if there is one.
    pub fn about(&self, host: &str) -> Option<String> {
        let refused = self.refused.about(host);
        let others = self.failed.about(host).or(self.unauthorized.about(host));
        refused.map(add_remedy).or(others.cloned())
    }

    /// Returns why nothing was stored. A failed request is more informative than a client without
    /// credentials.
    pub fn reason_for_nothing(&self, open: u64) -> String {
        let refused = self.refused.first().map(add_remedy);
        refused
            .or(self.failed.first().cloned())
            .or(describe_unfinished(open))
            .or(self.unauthorized.first().cloned())
            .unwrap_or_else(|| "no request came through the proxy".to_owned())
    }

    /// Lists the sentences. All refusals are included, because a hostile page could hide which
    /// servers it requested.
    pub fn list(&self, is_wanted: impl Fn(&str) -> bool, open: u64) -> Vec<String> {
        let mut sentences = self.refused.list(|_| true);
        sentences.extend(self.failed.list(is_wanted));
        sentences.extend(self.unauthorized.list(|_| true));
        sentences.extend(describe_unfinished(open));
        sentences
    }
}

/// Returns a refusal with the option that would allow its server.
fn add_remedy(refusal: &String) -> String {
    let server = refusal.trim_start_matches(REFUSED).split(' ').next();
    format!(
        "{refusal}; `--allow {}` if it is meant",
        server.unwrap_or_default()
    )
}

/// Returns a sentence about responses that were incomplete at the end.
fn describe_unfinished(open: u64) -> Option<String> {
    match open {
        0 => None,
        1 => Some("1 answer was unfinished at the end".to_owned()),
        _ => Some(format!("{open} answers were unfinished at the end")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_without_losing_earlier_notes() {
        let mut notes = Notes::default();
        for n in 0..SENTENCES_MAX + 5 {
            notes.add(format!("n{n:04}"));
        }
        notes.add("n0001".to_owned());
        assert_eq!(notes.len(), SENTENCES_MAX);
        let sentences = notes.list(|_| true);
        assert_eq!(sentences.len(), SENTENCES_MAX + 1);
        assert_eq!(sentences[1], "n0001 (2 times)");
        assert_eq!(sentences[SENTENCES_MAX], "and 5 more");
    }

    #[test]
    fn missing_credentials_are_the_reason_only_without_other_requests() {
        let mut left_out = LeftOut::default();
        left_out.unauthorized.add("a stranger".to_owned());
        assert_eq!(left_out.reason_for_nothing(0), "a stranger");
        let unfinished = "1 answer was unfinished at the end";
        assert_eq!(left_out.reason_for_nothing(1), unfinished);
        left_out.failed.add("its answer was cut".to_owned());
        assert_eq!(left_out.reason_for_nothing(1), "its answer was cut");
        left_out
            .refused
            .add(format!("{REFUSED}[::1]:8000 is loopback"));
        let with_the_way_out =
            "refused: [::1]:8000 is loopback; `--allow [::1]:8000` if it is meant";
        assert_eq!(left_out.reason_for_nothing(1), with_the_way_out);
        assert_eq!(left_out.about("::1").unwrap(), with_the_way_out);
        left_out.refused = Notes::default();
        let sentences = left_out.list(|_| true, 1);
        assert_eq!(sentences, ["its answer was cut", "a stranger", unfinished]);
    }
}
