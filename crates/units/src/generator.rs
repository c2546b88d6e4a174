use crate::{Probability, Seed};
use core::fmt;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A pinned random number generator: PCG XSL RR 128/64 (O'Neill 2014), with our own mappings to
/// other ranges, so that numbers do not change with a library's distributions.
#[derive(Clone)]
pub struct Generator(Pcg64);

impl Seed {
    /// Creates the generator that this seed starts.
    pub fn generator(self) -> Generator {
        Generator::new(self)
    }
}

impl Generator {
    /// Creates a generator from `seed`: state and stream are four outputs of SplitMix64.
    pub fn new(seed: Seed) -> Self {
        let mut bytes = [0; 32];
        for (index, chunk) in (0..).zip(bytes.chunks_exact_mut(8)) {
            chunk.copy_from_slice(&seed.output(index).to_le_bytes());
        }
        Self(Pcg64::from_seed(bytes))
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform number in [0, 1), a multiple of 2^-53; one draw.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns a uniform number in (0, 1), never 0 or 1, so that its logarithm is finite; one draw.
    #[inline]
    pub fn uniform_open(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
    }

    /// Returns a uniform integer in 0..`bound` (0 for a bound of 0 or 1); one draw. The
    /// multiplication's bias is below `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns true with this probability; always exactly one draw, for 0 and 1 too.
    #[inline]
    pub fn chance(&mut self, probability: Probability) -> bool {
        (self.next_u64() >> 11) < probability.threshold()
    }

    /// Returns a normal number with mean 0 and standard deviation 1 (Box and Muller 1958, the
    /// cosine only, so that each value takes exactly two draws).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(self.uniform_open())).sqrt();
        radius * libm::cos(2.0 * core::f64::consts::PI * self.uniform())
    }

    /// Returns an exponential number with mean 1; one draw.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform_open())
    }

    /// Returns a Pareto number with minimum 1 and this shape, heavier-tailed the smaller it is; one
    /// draw.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        libm::pow(self.uniform_open(), -1.0 / shape)
    }
}

/// Never prints the state: a log must not reveal the next numbers by accident.
impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Generator(PCG XSL RR 128/64)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_pinned() {
        let mut generator = Seed::new(1).generator();
        let first: Vec<u64> = (0..3).map(|_| generator.next_u64()).collect();
        assert_eq!(first, PINNED);
    }

    /// Computed independently of this crate, from the published definitions of both generators.
    const PINNED: [u64; 3] = [
        5_214_090_045_436_526_268,
        8_988_462_356_519_189_577,
        4_007_494_386_518_240_548,
    ];

    #[test]
    fn ranges_hold() {
        let mut generator = Seed::new(2).generator();
        for _ in 0..10_000 {
            assert!((0.0..1.0).contains(&generator.uniform()));
            let open = generator.uniform_open();
            assert!(open > 0.0 && open < 1.0);
            assert!(generator.below(3) < 3);
            assert!(!generator.chance(Probability::ZERO));
            assert!(generator.chance(Probability::ONE));
        }
    }

    #[test]
    fn distributions_have_their_moments() {
        const COUNT: usize = 200_000;
        let mut generator = Seed::new(4).generator();
        let mut mean = |draw: fn(&mut Generator) -> f64| {
            (0..COUNT).map(|_| draw(&mut generator)).sum::<f64>() / COUNT as f64
        };
        // Each tolerance is five standard errors. `normal` does not need the whole range of
        // `uniform`: a cosine has the same distribution over half of the circle.
        assert!((mean(Generator::uniform) - 0.5).abs() < 0.0033);
        assert!((mean(|g| g.uniform().powi(2)) - 1.0 / 3.0).abs() < 0.0034);
        assert!(mean(Generator::normal).abs() < 0.0112);
        assert!((mean(|g| g.normal().powi(2)) - 1.0).abs() < 0.0159);
        assert!((mean(Generator::exponential) - 1.0).abs() < 0.0112);
        // Shape 3: mean 3/2, variance 3/4.
        assert!((mean(|g| g.pareto(3.0)) - 1.5).abs() < 0.0097);
    }

    #[test]
    fn a_chance_is_as_frequent_as_its_probability() {
        let mut generator = Seed::new(3).generator();
        let probability = Probability::new(0.01).unwrap();
        let hits = (0..1_000_000)
            .filter(|_| generator.chance(probability))
            .count();
        // Five standard deviations of the binomial: 5 * sqrt(1e6 * 0.01 * 0.99) = 497.
        assert!((9_503..=10_497).contains(&hits), "{hits} hits");
    }
}
