use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::SpecError;
use crate::error::At;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::timeline::Timeline;
use crate::words::{Words, as_ms};
use core::net::IpAddr;
use eyelevel_units::{Duration, Instant, Seed, duration_from_ms, parse_duration};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A fixed one-way delay for each origin address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressDelaySpec {
    /// Delay of packets with these addresses, in milliseconds.
    pub delays_ms: BTreeMap<IpAddr, f64>,
    /// Delay of all other packets.
    #[serde(default)]
    pub default_ms: f64,
}

impl StageSettings for AddressDelaySpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        const EXPECTED: &str = "an address and its delay, such as 192.0.2.1=20ms";
        let (mut delays_ms, mut default_ms) = (BTreeMap::new(), 0.0);
        while !words.is_empty() {
            if words.take("default") {
                default_ms = words.ms()?;
                continue;
            }
            let (address, delay) = words.pair(EXPECTED)?;
            let address = address.parse().map_err(|_| {
                words.error(
                    &format!("{address:?} is no IP address"),
                    &format!("write {EXPECTED}"),
                )
            })?;
            delays_ms.insert(address, as_ms(parse_duration(&delay).at(|| words.place())?));
        }
        if delays_ms.is_empty() {
            return Err(words.error("no address is given", &format!("write {EXPECTED}")));
        }
        Ok(Self {
            delays_ms,
            default_ms,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let least_ms = self
            .delays_ms
            .values()
            .copied()
            .fold(self.default_ms, f64::min);
        let delay_min = duration_from_ms(least_ms).at(|| "delays_ms".into())?;
        Ok(Effect::delay(delay_min))
    }
}

/// The state of the delays: packets of different addresses may overtake each other, those of one
/// address never do.
#[derive(Debug)]
pub(crate) struct AddressDelay<P> {
    delays: BTreeMap<IpAddr, Duration>,
    default: Duration,
    travelling: Timeline<P>,
}

impl<P> StageState<P> for AddressDelay<P> {
    type Settings = AddressDelaySpec;

    fn new(settings: &AddressDelaySpec, _seed: Seed, place: &str) -> Result<Self, SpecError> {
        let delay = |(address, ms): (&IpAddr, &f64)| {
            let delay = duration_from_ms(*ms).at(|| format!("{place}: delays_ms of {address}"))?;
            Ok((*address, delay))
        };
        Ok(Self {
            delays: settings
                .delays_ms
                .iter()
                .map(delay)
                .collect::<Result<_, SpecError>>()?,
            default: duration_from_ms(settings.default_ms).at(|| format!("{place}: default_ms"))?,
            travelling: Timeline::default(),
        })
    }

    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let queued_packet = reports.admit(at, queued_packet, self.travelling.len())?;
        let own = queued_packet
            .packet
            .address
            .and_then(|address| self.delays.get(&address));
        self.travelling
            .push(at + *own.unwrap_or(&self.default), queued_packet);
        None
    }

    fn deadline(&self) -> Instant {
        self.travelling.deadline()
    }

    fn handle_timeout<O: Observer<P>>(
        &mut self,
        _at: Instant,
        _reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.travelling.pop()
    }
}
