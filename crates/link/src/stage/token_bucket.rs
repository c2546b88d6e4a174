use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{BitRate, Instant, Seed};
use serde::{Deserialize, Serialize};

/// The smallest burst: one full packet, else every full packet would be dropped at any rate (RFC
/// 2697, section 3, wants at least the largest packet of the stream).
const BURST_BYTES_MIN: u64 = 1500;

/// The largest burst, more than any policer allows, so that the arithmetic cannot overflow.
const BURST_BYTES_MAX: u64 = 1 << 40;

/// A policer: packets beyond the rate and burst are dropped at once, nothing is queued.
///
/// One bucket of `burst_bytes` that is full when the path begins and gains `rate_bit_s`. A packet
/// with enough tokens passes and consumes its bytes, another is dropped and consumes none: the
/// committed rate and burst size of RFC 2697 and 2698, colour-blind, with everything but green
/// dropped. Bytes are of IP packets, header included, as in section 3 of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBucketSpec {
    /// The long-term rate in bits of IP packets per second.
    pub rate_bit_s: u64,
    /// Bytes that pass at once after a pause.
    pub burst_bytes: u64,
}

impl StageSettings for TokenBucketSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        Ok(Self {
            rate_bit_s: words.rate()?.bits_per_second(),
            burst_bytes: words.bytes("a burst, such as 64 kB")?,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let rate = BitRate::from_bits_per_second(self.rate_bit_s).at(|| "rate_bit_s".into())?;
        Ok(Effect::policer(rate))
    }
}

/// The state of the bucket. Tokens are billionths of a bit, of which each nanosecond adds the rate:
/// nothing is rounded.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    per_nanosecond: u128,
    full: u128,
    tokens: u128,
    /// The time at which `tokens` were counted.
    counted_at: Instant,
}

const fn tokens(bytes: u64) -> u128 {
    bytes as u128 * 8 * 1_000_000_000
}

impl<P> StageState<P> for TokenBucket {
    type Settings = TokenBucketSpec;

    fn new(settings: &TokenBucketSpec, _seed: Seed, place: &str) -> Result<Self, SpecError> {
        let rate = BitRate::from_bits_per_second(settings.rate_bit_s)
            .at(|| format!("{place}: rate_bit_s"))?;
        if !(BURST_BYTES_MIN..=BURST_BYTES_MAX).contains(&settings.burst_bytes) {
            return Err(SpecError::setting(
                format!("{place}: burst_bytes"),
                format!("a burst of {} bytes", settings.burst_bytes),
                format!("use {BURST_BYTES_MIN}, one full packet, to {BURST_BYTES_MAX}"),
            ));
        }
        let full = tokens(settings.burst_bytes);
        Ok(Self {
            per_nanosecond: u128::from(rate.bits_per_second()),
            full,
            tokens: full,
            counted_at: Instant::ZERO,
        })
    }

    fn start(&mut self, origin: Instant) {
        self.counted_at = origin;
    }

    #[inline]
    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let gained = at.since(self.counted_at).as_nanos() * self.per_nanosecond;
        self.tokens = self.full.min(self.tokens + gained);
        self.counted_at = at;
        match self.tokens.checked_sub(tokens(queued_packet.bytes())) {
            Some(left) => {
                self.tokens = left;
                Some(queued_packet)
            }
            None => {
                reports.dropped(at, queued_packet, DropReason::Policed);
                None
            }
        }
    }
}
