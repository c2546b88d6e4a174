use crate::lane::Lane;
use crate::log::LogEnd;
use crate::measured::arrival::ArrivalSummary;
use crate::measured::lateness::LatenessSummary;
use crate::measured::marks::{ConnectionMarks, EcnCounts};
use crate::measured::outside::LostOutside;
use crate::measured::timeline::{Timeline, TimelineSummary};
use serde::Serialize;
use std::collections::BTreeMap;

/// The counts of a path, for the trial's record.
#[derive(Clone, Debug, Serialize)]
pub struct PathSummary {
    /// The direction from the server to the client.
    pub down: DirectionSummary,
    /// The direction from the client to the server.
    pub up: DirectionSummary,
    /// Packets that were lost although no stage dropped them.
    pub lost_outside: LostOutside,
    /// Packets of each connection over TCP or UDP by their ECN bits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionMarks>,
    /// Packets in the capture; null if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_packets: Option<u64>,
    /// Packets missing in it, because the disk was too slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_lost_packets: Option<u64>,
    /// The disk's error, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_failure: Option<String>,
}

/// The counts of one direction, since the start or the last [`crate::SummaryReset::request`].
#[derive(Clone, Debug, Serialize)]
pub struct DirectionSummary {
    /// Packets that arrived, of wire size.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// Packets released to the other side.
    pub released_packets: u64,
    /// Their bytes.
    pub released_bytes: u64,
    /// Packets that the link dropped, by reason; reasons that did not occur are left out.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Packets whose ECN bits a queue set.
    pub marked_packets: u64,
    /// Packets by their ECN bits.
    pub ecn: EcnCounts,
    /// Packets that were no IP packet, or were refused by the receiving device.
    pub refused_packets: u64,
    /// Lateness of actual releases against the model's release times.
    #[serde(flatten)]
    pub lateness: LatenessSummary,
    /// Lateness of reads against the packets' arrivals.
    pub arrival: ArrivalSummary,
    /// The direction over time; for down alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineSummary>,
    /// Records in the direction's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_records: Option<u64>,
    /// Records missing in it, because the disk was too slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_lost_records: Option<u64>,
    /// The disk's error that left the log incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_failure: Option<String>,
}

impl DirectionSummary {
    /// Returns the counts of a lane at its end, and closes its log.
    pub(crate) fn from_lane(mut lane: Lane) -> Self {
        let log = lane.direction.observer_mut().log.take();
        let log: Option<LogEnd> = log.map(crate::log::Log::finish);
        let timeline = lane.direction.observer_mut().timeline.take();
        let (counts, before) = (lane.counts, &lane.before);
        let mut drops = lane.dropped();
        for (reason, count) in &before.dropped {
            drops.entry(reason).and_modify(|all| *all -= count);
        }
        drops.retain(|_, count| *count > 0);
        Self {
            packets: counts.packets - before.counts.packets,
            bytes: counts.bytes - before.counts.bytes,
            released_packets: counts.released - before.counts.released,
            released_bytes: counts.released_bytes - before.counts.released_bytes,
            dropped: drops,
            marked_packets: lane.direction.observer().marked_packets - before.marked_packets,
            ecn: lane.marks.all(),
            refused_packets: counts.refused - before.counts.refused,
            lateness: lane.lateness.summary(),
            arrival: lane.arrival.summary(),
            timeline: timeline.as_ref().and_then(Timeline::summary),
            log_records: log.as_ref().map(|log| log.records),
            log_lost_records: log.as_ref().map(|log| log.lost),
            log_failure: log.and_then(|log| log.failure),
        }
    }
}
