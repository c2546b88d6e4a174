use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::{QUEUED_PACKETS_MAX, QueuedPacket};
use crate::timeline::Timeline;
use crate::{DropReason, SpecError};
use core::net::IpAddr;
use eyelevel_units::{Duration, Instant, duration_from_ms};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A fixed one-way delay of its own for each origin address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressDelaySpec {
    /// Delay of packets with these addresses, in milliseconds.
    pub delays_ms: BTreeMap<IpAddr, f64>,
    /// Delay of all other packets.
    #[serde(default)]
    pub default_ms: f64,
}

/// Packets of different addresses may overtake each other, those of one address never do.
#[derive(Debug)]
pub(crate) struct AddressDelay<P> {
    delays: BTreeMap<IpAddr, Duration>,
    default: Duration,
    travelling: Timeline<P>,
}

impl<P> AddressDelay<P> {
    pub(crate) fn new(spec: &AddressDelaySpec, place: &str) -> Result<Self, SpecError> {
        let delay = |(address, ms): (&IpAddr, &f64)| {
            let delay = duration_from_ms(*ms).at(|| format!("{place}: delays_ms of {address}"))?;
            Ok((*address, delay))
        };
        Ok(Self {
            delays: spec
                .delays_ms
                .iter()
                .map(delay)
                .collect::<Result<_, SpecError>>()?,
            default: duration_from_ms(spec.default_ms).at(|| format!("{place}: default_ms"))?,
            travelling: Timeline::default(),
        })
    }

    pub(crate) fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.travelling.len() >= QUEUED_PACKETS_MAX {
            reports.dropped(at, queued_packet, DropReason::Bound);
            return None;
        }
        let own = queued_packet
            .packet
            .address
            .and_then(|address| self.delays.get(&address));
        self.travelling
            .push(at + *own.unwrap_or(&self.default), queued_packet);
        None
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.travelling.deadline()
    }

    pub(crate) fn handle_timeout(&mut self) -> Option<QueuedPacket<P>> {
        self.travelling.pop()
    }
}
