use crate::error::{Code, Error};
use crate::frame;
use crate::varint;

/// RFC 9204, section 5.
const QPACK_MAX_TABLE_CAPACITY: u64 = 0x01;
/// RFC 9114, section 7.2.4.1.
const MAX_FIELD_SECTION_SIZE: u64 = 0x06;
/// RFC 9204, section 5.
const QPACK_BLOCKED_STREAMS: u64 = 0x07;
/// RFC 9114, section 7.2.4.1: HTTP/2's, which have no meaning here.
const OF_HTTP2: [u64; 5] = [0x00, 0x02, 0x03, 0x04, 0x05];

/// What one end lets the other do (RFC 9114, section 7.2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The largest dynamic table that its decoder keeps.
    pub table_bytes_max: u64,
    /// Streams that its decoder lets wait for inserts.
    pub blocked_streams_max: u64,
    /// The largest field section that it takes; none: any.
    pub field_section_bytes_max: Option<u64>,
}

impl Settings {
    /// The SETTINGS frame. Values that are the default are left out.
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

    /// From the frame's payload; identifiers that are not known count for nothing.
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
