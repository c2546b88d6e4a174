use std::collections::{BTreeMap, HashMap, VecDeque};

/// The most sections sent without acknowledgement. A peer that never acknowledges gets sections
/// without references beyond it.
const SECTIONS_MAX: usize = 1024;

/// The inserts that the peer's decoder is known to have, and those that it may still need (RFC
/// 9204, section 2.1).
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// Inserts that the peer has.
    received: u64,
    streams: HashMap<u64, VecDeque<Section>>,
    count: usize,
    /// The number of sections by their oldest entry.
    oldest: BTreeMap<u64, usize>,
    /// Streams that may be blocked, with the insert count that unblocks them.
    at_risk: HashMap<u64, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    required: u64,
    oldest: u64,
}

impl Sections {
    /// Returns the inserts that the peer is known to have.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns the first entry that the peer may not have, or may need for a section.
    pub fn needed_from(&self) -> u64 {
        let referred = self.oldest.keys().next().copied();
        referred.unwrap_or(u64::MAX).min(self.received)
    }

    /// Returns whether another section with references can be tracked.
    pub fn may_add(&self) -> bool {
        self.count < SECTIONS_MAX
    }

    /// Returns whether that stream may be blocked.
    pub fn may_block(&self, stream: u64, streams_max: u64) -> bool {
        self.at_risk.contains_key(&stream) || (self.at_risk.len() as u64) < streams_max
    }

    /// Adds a section that was encoded.
    pub fn add(&mut self, stream: u64, required: u64, oldest: u64) {
        let section = Section { required, oldest };
        self.streams.entry(stream).or_default().push_back(section);
        self.count += 1;
        *self.oldest.entry(oldest).or_default() += 1;
        if required > self.received {
            let until = self.at_risk.entry(stream).or_default();
            *until = required.max(*until);
        }
    }

    /// Handles that the oldest section of that stream was decoded.
    pub fn on_acknowledged(&mut self, stream: u64) -> Result<(), &'static str> {
        let sections = self.streams.get_mut(&stream);
        let section = sections.and_then(|sections| sections.pop_front());
        let section = section.ok_or("an acknowledgement of a section that was not sent")?;
        if self.streams.get(&stream).is_some_and(VecDeque::is_empty) {
            self.streams.remove(&stream);
        }
        self.forget(section);
        self.raise(section.required);
        Ok(())
    }

    /// Handles that the stream's sections will not be read.
    pub fn on_cancelled(&mut self, stream: u64) {
        for section in self.streams.remove(&stream).into_iter().flatten() {
            self.forget(section);
        }
        self.at_risk.remove(&stream);
    }

    /// Handles the arrival of `count` further inserts.
    pub fn on_received(&mut self, count: u64, inserted: u64) -> Result<(), &'static str> {
        let received = self.received.saturating_add(count);
        if count == 0 || received > inserted {
            return Err("inserts were received that were not sent");
        }
        self.raise(received);
        Ok(())
    }

    fn forget(&mut self, section: Section) {
        self.count -= 1;
        if let Some(count) = self.oldest.get_mut(&section.oldest) {
            *count -= 1;
            if *count == 0 {
                self.oldest.remove(&section.oldest);
            }
        }
    }

    fn raise(&mut self, received: u64) {
        if received > self.received {
            self.received = received;
            self.at_risk.retain(|_, until| *until > received);
        }
    }
}
