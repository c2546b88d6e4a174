use super::fifo::Fifo;
use crate::SpecError;
use crate::error::At;
use eyelevel_units::{BitRate, duration_from_ms};

/// The limits of a queue, in bytes and packets; both hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    bytes: u64,
    packets: u64,
}

impl Limits {
    pub(crate) fn new(
        limit_ms: Option<f64>,
        limit_bytes: Option<u64>,
        limit_packets: Option<u64>,
        rate: BitRate,
        place: &str,
    ) -> Result<Self, SpecError> {
        if limit_ms.is_none() && limit_bytes.is_none() && limit_packets.is_none() {
            return Err(SpecError::setting(
                place,
                "the queue has no limit",
                "give limit_ms, limit_bytes or limit_packets, or use the discipline infinite",
            ));
        }
        let drained = match limit_ms {
            Some(ms) => {
                let duration = duration_from_ms(ms).at(|| format!("{place}: limit_ms"))?;
                rate.bytes_in(duration).get()
            }
            None => u64::MAX,
        };
        Ok(Self {
            bytes: drained.min(limit_bytes.unwrap_or(u64::MAX)),
            packets: limit_packets.unwrap_or(u64::MAX),
        })
    }

    /// Whether `bytes` more fit. An empty queue always takes one packet: a limit below one full
    /// packet would otherwise be a link that carries nothing.
    pub(crate) fn admit<P>(&self, queue: &Fifo<P>, bytes: u64) -> bool {
        queue.packets() == 0
            || (queue.bytes() + bytes <= self.bytes && queue.packets() < self.packets)
    }
}
