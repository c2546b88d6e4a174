use crate::header;
use crate::lateness::{Lateness, LatenessSummary};
use eyelevel_link::{Direction, DropReason, Ecn, Packet, SpecError, StageCounters, StageSpec};
use eyelevel_netns::{Device, Error, Stop, Wait, monotonic_now};
use eyelevel_units::{Instant, Seed};
use serde::Serialize;
use std::collections::BTreeMap;
use std::os::fd::AsFd;

/// The MTU of both devices: what the networks of the presets carry.
const MTU_BYTES: usize = 1500;
/// Packets read from one side before the other side and the due releases get their turn.
const BATCH_PACKETS: usize = 64;
/// Free buffers kept for reuse; more than this many are given back to the allocator.
const FREE_BUFFERS_MAX: usize = 4096;

/// Both directions between a client's and a server's device.
pub struct Path {
    up: Lane,
    down: Lane,
    client: Device,
    server: Device,
    wait: Wait,
    free: Vec<Vec<u8>>,
}

/// Ends a running [`Path`] from another thread.
pub type Stopper = Stop;

/// What a path saw, for the trial's record.
#[derive(Clone, Debug, Serialize)]
pub struct PathSummary {
    /// From the server to the client.
    pub down: DirectionSummary,
    /// From the client to the server.
    pub up: DirectionSummary,
}

/// One direction's counts.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionSummary {
    /// Packets that came.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// Packets released to the other side.
    pub released_packets: u64,
    /// Packets that the link dropped, by reason; reasons that did not occur are left out.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Not an IP packet, or refused by the receiving device.
    pub refused_packets: u64,
    /// Actual release against the model's release time.
    #[serde(flatten)]
    pub lateness: LatenessSummary,
}

struct Lane {
    direction: Direction<Vec<u8>>,
    lateness: Lateness,
    /// Whether the origin is the destination of this lane's packets.
    toward_origin: bool,
    packets: u64,
    bytes: u64,
    released: u64,
    refused: u64,
}

impl Path {
    /// Joins two devices. The stages stand in the order in which a packet meets them.
    ///
    /// # Errors
    /// When a stage's settings make no sense.
    pub fn new(
        client: Device,
        server: Device,
        down: &[StageSpec],
        up: &[StageSpec],
        seed: Seed,
    ) -> Result<(Self, Stopper), PathError> {
        let lane = |specs, label, toward_origin| {
            Ok::<_, SpecError>(Lane {
                direction: Direction::new(specs, seed.child(label))?,
                lateness: Lateness::default(),
                toward_origin,
                packets: 0,
                bytes: 0,
                released: 0,
                refused: 0,
            })
        };
        let (wait, stop) = Wait::new(client.as_fd(), server.as_fd())?;
        let (up, down) = (lane(up, "up", true)?, lane(down, "down", false)?);
        Ok((
            Self {
                up,
                down,
                client,
                server,
                wait,
                free: Vec::new(),
            },
            stop,
        ))
    }

    /// Moves packets until the stopper is used. The calling thread should have real-time priority.
    ///
    /// # Errors
    /// When waiting or reading fails, which ends the lab.
    pub fn run(mut self) -> Result<PathSummary, Error> {
        loop {
            let now = monotonic_now();
            self.release_due(now);
            let timeout = earliest(
                self.up.direction.poll_timeout(),
                self.down.direction.poll_timeout(),
            )
            .map(|at| at.since(monotonic_now()));
            let ready = self.wait.wait(timeout)?;
            if ready.stopped {
                return Ok(PathSummary {
                    down: self.down.summary(),
                    up: self.up.summary(),
                });
            }
            if ready.first {
                self.up.take_in(&mut self.client, &mut self.free)?;
            }
            if ready.second {
                self.down.take_in(&mut self.server, &mut self.free)?;
            }
        }
    }

    fn release_due(&mut self, now: Instant) {
        self.up.let_out(now, &mut self.server, &mut self.free);
        self.down.let_out(now, &mut self.client, &mut self.free);
    }
}

/// Why a path could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Its settings make no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The kernel refused something.
    #[error(transparent)]
    System(#[from] Error),
}

impl Lane {
    fn take_in(&mut self, device: &mut Device, free: &mut Vec<Vec<u8>>) -> Result<(), Error> {
        for _ in 0..BATCH_PACKETS {
            let mut buffer = free.pop().unwrap_or_default();
            buffer.resize(MTU_BYTES, 0);
            match device.read(&mut buffer) {
                Ok(Some(length)) => buffer.truncate(length),
                Ok(None) => {
                    free.push(buffer);
                    return Ok(());
                }
                Err(source) => {
                    let attempt = "read a packet from the lab's device".to_owned();
                    return Err(Error {
                        attempt,
                        source,
                        remedy: None,
                    });
                }
            }
            let Some(header) = header::parse(&buffer) else {
                self.refused += 1;
                continue;
            };
            let origin = if self.toward_origin {
                header.destination
            } else {
                header.source
            };
            self.packets += 1;
            self.bytes += buffer.len() as u64;
            let packet = Packet {
                wire_bytes: buffer.len() as u32,
                flow: header.flow,
                address: Some(origin),
                ecn: Ecn::from_bits(header.ecn),
                corrupt_bit: None,
                payload: buffer,
            };
            self.direction.handle_packet(monotonic_now(), packet);
        }
        Ok(())
    }

    fn let_out(&mut self, now: Instant, device: &mut Device, free: &mut Vec<Vec<u8>>) {
        while let Some(release) = self.direction.poll_transmit(now) {
            let buffer = release.packet.payload;
            // The device refuses only what its namespace cannot take; the sender sees a loss.
            match device.write(&buffer) {
                Ok(()) => self.released += 1,
                Err(_) => self.refused += 1,
            }
            self.lateness.record(monotonic_now().since(release.at));
            if free.len() < FREE_BUFFERS_MAX {
                free.push(buffer);
            }
        }
    }

    fn summary(&self) -> DirectionSummary {
        DirectionSummary {
            packets: self.packets,
            bytes: self.bytes,
            released_packets: self.released,
            dropped: dropped(self.direction.counters()),
            refused_packets: self.refused,
            lateness: self.lateness.summary(),
        }
    }
}

fn dropped(counters: &[StageCounters]) -> BTreeMap<&'static str, u64> {
    let sum = |reason| counters.iter().map(|c| c.dropped(reason)).sum();
    let counts = DropReason::ALL
        .into_iter()
        .map(|reason| (reason.name(), sum(reason)));
    counts.filter(|(_, count)| *count > 0).collect()
}

fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}
