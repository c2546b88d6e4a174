//! Sentences about what was not stored, with how often each was said; a bounded number.

use std::collections::BTreeMap;

/// Different sentences; of the rest it is counted how many there were.
const SENTENCES_MAX: usize = 1000;

/// What stands before a server that may not be reached, and why.
pub const REFUSED: &str = "refused: ";

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

/// What passed through, or would have, and is not stored.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Of what clients asked for: servers that failed, answers that were cut.
    pub asked: Notes,
    /// What a page may not reach.
    pub refused: Notes,
    /// Of clients that do not know this run's credentials.
    pub unknown: Notes,
}

impl LeftOut {
    /// How many different sentences there are.
    pub fn len(&self) -> usize {
        self.asked.len() + self.refused.len() + self.unknown.len()
    }

    /// The first sentence that names what is asked for, with the way out where there is one.
    pub fn about(&self, host: &str) -> Option<String> {
        let refused = self.refused.about(host);
        let others = self.asked.about(host).or(self.unknown.about(host));
        refused.map(and_how).or(others.cloned())
    }

    /// Why nothing was stored. What became of a request that was let through says more than who was
    /// turned away.
    pub fn reason_for_nothing(&self, open: u64) -> String {
        let refused = self.refused.first().map(and_how);
        refused
            .or(self.asked.first().cloned())
            .or(unfinished(open))
            .or(self.unknown.first().cloned())
            .unwrap_or_else(|| "no request came through the proxy".to_owned())
    }

    /// Every sentence. A page that was recorded knows best how to hide whom it asked: all refusals
    /// are told.
    pub fn told(&self, is_wanted: impl Fn(&str) -> bool, open: u64) -> Vec<String> {
        let mut told = self.refused.told(|_| true);
        told.extend(self.asked.told(is_wanted));
        told.extend(self.unknown.told(|_| true));
        told.extend(unfinished(open));
        told
    }
}

/// A refusal, with the option that would let its server be reached: it is the first thing named.
fn and_how(refusal: &String) -> String {
    let server = refusal.trim_start_matches(REFUSED).split(' ').next();
    format!(
        "{refusal}; `--allow {}` if it is meant",
        server.unwrap_or_default()
    )
}

/// A sentence about answers that were still on their way at the end.
fn unfinished(open: u64) -> Option<String> {
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

    #[test]
    fn who_was_turned_away_is_the_reason_only_where_nobody_was_let_through() {
        let mut left_out = LeftOut::default();
        left_out.unknown.add("a stranger".to_owned());
        assert_eq!(left_out.reason_for_nothing(0), "a stranger");
        let unfinished = "1 answer was unfinished at the end";
        assert_eq!(left_out.reason_for_nothing(1), unfinished);
        left_out.asked.add("its answer was cut".to_owned());
        assert_eq!(left_out.reason_for_nothing(1), "its answer was cut");
        left_out
            .refused
            .add(format!("{REFUSED}[::1]:8000 is loopback"));
        let with_the_way_out =
            "refused: [::1]:8000 is loopback; `--allow [::1]:8000` if it is meant";
        assert_eq!(left_out.reason_for_nothing(1), with_the_way_out);
        assert_eq!(left_out.about("::1").unwrap(), with_the_way_out);
        left_out.refused = Notes::default();
        let told = left_out.told(|_| true, 1);
        assert_eq!(told, ["its answer was cut", "a stranger", unfinished]);
    }
}
