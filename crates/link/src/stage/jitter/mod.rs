mod distribution;

use crate::SpecError;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::ReadFile;
use crate::stage::effect::Effect;
use crate::stage::interface::{StageSettings, StageState};
use crate::timeline::Timeline;
use crate::words::Words;
use core::net::IpAddr;
pub use distribution::JitterDistribution;
use distribution::Source;
use eyelevel_units::{Duration, Instant, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A delay that varies from packet to packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// The distribution of the delay.
    pub distribution: JitterDistribution,
    /// Whether a packet may overtake another one; if not, it waits for those before it (of its own
    /// address, if that has its own distribution).
    #[serde(default)]
    pub reordering: bool,
    /// Other distributions for packets with these addresses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub per_address: BTreeMap<IpAddr, JitterDistribution>,
}

impl StageSettings for JitterSpec {
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        // Alone, `for` leaves the other addresses unchanged.
        let mut distribution = JitterDistribution::Uniform {
            min_ms: 0.0,
            max_ms: 0.0,
        };
        if !words.is_next("for") {
            distribution = JitterDistribution::parse(words)?;
        }
        let mut per_address = BTreeMap::new();
        while words.take("for") {
            const EXPECTED: &str = "an address, such as \"for 192.0.2.1 normal 5ms 2ms\"";
            let address = words.word(EXPECTED)?;
            let address = address.parse().map_err(|_| {
                words.error(
                    &format!("{address:?} is no IP address"),
                    &format!("write {EXPECTED}"),
                )
            })?;
            per_address.insert(address, JitterDistribution::parse(words)?);
        }
        let reordering = words.take("reordering");
        Ok(Self {
            distribution,
            reordering,
            per_address,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let others = self.per_address.values();
        let delay_min = others
            .chain([&self.distribution])
            .try_fold(Duration::MAX, |least, distribution| {
                Ok(least.min(distribution.delay_min()?))
            })?;
        Ok(Effect::delay(delay_min))
    }

    fn load_files(&mut self, read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        let others = self.per_address.values_mut();
        others
            .chain([&mut self.distribution])
            .try_for_each(|distribution| distribution.load_files(read))
    }
}

#[derive(Debug)]
pub(crate) struct Jitter<P> {
    default: Source,
    per_address: BTreeMap<IpAddr, Source>,
    reordering: bool,
    origin: Instant,
    travelling: Timeline<P>,
}

impl<P> StageState<P> for Jitter<P> {
    type Settings = JitterSpec;

    fn new(settings: &JitterSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let own = |(address, distribution): (&IpAddr, &JitterDistribution)| {
            let place = format!("{place}: per_address {address}");
            // Derived from the address, so that one origin's draws do not depend on another's
            // packets.
            let seed = seed.child(&address.to_string());
            Ok((*address, Source::new(distribution, seed, &place)?))
        };
        Ok(Self {
            default: Source::new(
                &settings.distribution,
                seed,
                &format!("{place}: distribution"),
            )?,
            per_address: settings
                .per_address
                .iter()
                .map(own)
                .collect::<Result<_, SpecError>>()?,
            reordering: settings.reordering,
            origin: Instant::ZERO,
            travelling: Timeline::default(),
        })
    }

    fn start(&mut self, origin: Instant) {
        self.origin = origin;
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
            .and_then(|address| self.per_address.get_mut(&address));
        let source = own.unwrap_or(&mut self.default);
        let mut due = at + source.delay(at.since(self.origin));
        if !self.reordering {
            due = due.max(source.last_due);
            source.last_due = due;
        }
        self.travelling.push(due, queued_packet);
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
