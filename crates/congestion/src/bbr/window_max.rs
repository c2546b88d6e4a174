use std::collections::VecDeque;

/// A windowed maximum: the largest value of the last rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowMax {
    /// Rounds and values, both ordered: the first value is the largest, the last the newest.
    values: VecDeque<(u64, u64)>,
}

impl WindowMax {
    /// Adds a value of `round` and removes those more than `rounds` older.
    pub(super) fn insert(&mut self, round: u64, value: u64, rounds: u64) {
        while self.values.back().is_some_and(|(_, last)| *last <= value) {
            self.values.pop_back();
        }
        // A smaller value of the same round can never become the largest.
        if self.values.back().is_none_or(|(last, _)| *last < round) {
            self.values.push_back((round, value));
        }
        while self
            .values
            .front()
            .is_some_and(|(first, _)| first + rounds < round)
        {
            self.values.pop_front();
        }
    }

    /// Returns the largest value; 0 while there is none.
    pub(super) fn get(&self) -> u64 {
        self.values.front().map_or(0, |(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_after_the_window_of_rounds() {
        let mut filter = WindowMax::default();
        for (round, value, largest) in [
            (0, 100, 100),
            (1, 80, 100),
            (1, 90, 100),
            (1, 70, 100),
            (5, 60, 100),
            (10, 50, 100),
            (11, 50, 90),
            (12, 50, 60),
            (13, 200, 200),
        ] {
            filter.insert(round, value, 10);
            assert_eq!(filter.get(), largest, "round {round}");
        }
    }
}
