use crate::error::{Code, Error};
use crate::frame;
use crate::varint;

/// The identifier of the table's capacity (RFC 9204, section 5).
const QPACK_MAX_TABLE_CAPACITY: u64 = 0x01;
/// The identifier of the section's size (RFC 9114, section 7.2.4.1).
const MAX_FIELD_SECTION_SIZE: u64 = 0x06;
/// The identifier of the blocked streams (RFC 9204, section 5).
const QPACK_BLOCKED_STREAMS: u64 = 0x07;
/// HTTP/2's identifiers, which are not allowed here (RFC 9114, section 7.2.4.1).
const OF_HTTP2: [u64; 5] = [0x00, 0x02, 0x03, 0x04, 0x05];

/// The settings of one end for the other (RFC 9114, section 7.2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The largest dynamic table that its decoder keeps.
    pub table_bytes_max: u64,
    /// Streams that may block its decoder on inserts.
    pub blocked_streams_max: u64,
    /// The largest field section that it accepts; `None`: any.
    pub field_section_bytes_max: Option<u64>,
}

impl Settings {
    /// Encodes the SETTINGS frame, without default values.
    pub fn frame(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        for (id, value, default) in [
            (QPACK_MAX_TABLE_CAPACITY, Some(self.table_bytes_max), 0),
            (
                MAX_FIELD_SECTION_SIZE,
                self.field_section_bytes_max,
                u64::MAX,
            ),
            (QPACK_BLOCKED_STREAMS, Some(self.blocked_streams_max), 0),
        ] {
            if let Some(value) = value.filter(|value| *value != default) {
                varint::write(id, &mut payload);
                varint::write(value, &mut payload);
            }
        }
        let mut written = Vec::new();
        varint::write(frame::SETTINGS, &mut written);
        varint::write(payload.len() as u64, &mut written);
        written.extend(payload);
        written
    }

    /// Parses the frame's payload; unknown identifiers are ignored.
    pub(crate) fn read(mut payload: &[u8]) -> Result<Self, Error> {
        let cut = || Error::connection(Code::FrameError, "SETTINGS end within a setting");
        let refused = |reason| Err(Error::connection(Code::SettingsError, reason));
        let mut settings = Self::default();
        let mut seen = Vec::new();
        while !payload.is_empty() {
            let (id, length) = varint::read(payload).ok_or_else(cut)?;
            payload = &payload[length..];
            let (value, length) = varint::read(payload).ok_or_else(cut)?;
            payload = &payload[length..];
            if OF_HTTP2.contains(&id) {
                return refused("a setting of HTTP/2");
            }
            if seen.contains(&id) {
                return refused("a setting twice");
            }
            seen.push(id);
            match id {
                QPACK_MAX_TABLE_CAPACITY => settings.table_bytes_max = value,
                MAX_FIELD_SECTION_SIZE => settings.field_section_bytes_max = Some(value),
                QPACK_BLOCKED_STREAMS => settings.blocked_streams_max = value,
                _ => {}
            }
        }
        Ok(settings)
    }
}
