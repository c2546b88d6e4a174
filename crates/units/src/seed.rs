use core::fmt;
use serde::{Deserialize, Serialize};

/// A seed for the randomness of one part. Children are derived by label, so that adding one
/// consumer of randomness never shifts the numbers of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(u64);

impl Seed {
    /// Creates a seed of 64 bits.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// Returns the 64 bits.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the seed of the part called `label`. Different labels give unrelated seeds; the same
    /// label always gives the same one. FNV-1a folds the label, SplitMix64 (Steele et al. 2014)
    /// mixes.
    pub fn child(self, label: &str) -> Self {
        let folded = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(mix(mix(self.0).wrapping_add(folded)))
    }

    /// Returns the seed of the part with this number among its siblings.
    pub fn child_numbered(self, number: u64) -> Self {
        Self(mix(mix(self.0) ^ number.wrapping_mul(GAMMA)))
    }

    /// Returns the `index`-th output of SplitMix64 started at this seed, to fill a generator's
    /// state.
    pub(crate) const fn output(self, index: u64) -> u64 {
        mix(self.0.wrapping_add(GAMMA.wrapping_mul(index)))
    }
}

/// 2^64 divided by the golden ratio, odd: SplitMix64's increment.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes by SplitMix64: one increment and its finalizer.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(GAMMA);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_is_splitmix64() {
        // The published first outputs for the seed 1234567.
        let seed = Seed::new(1_234_567);
        let outputs: Vec<u64> = (0..3).map(|index| seed.output(index)).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(outputs, published);
    }

    #[test]
    fn children_differ_from_each_other_and_stay_the_same() {
        let seed = Seed::new(7);
        assert_eq!(seed.child("down"), seed.child("down"));
        assert_ne!(seed.child("down"), seed.child("up"));
        assert_ne!(seed.child_numbered(0), seed.child_numbered(1));
        assert_ne!(seed.child_numbered(0), seed);
    }
}
