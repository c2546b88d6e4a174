//! The records of one WARC file, plain or gzip, with their positions.

use bytes::Bytes;

use crate::budget::ReadBudget;
use crate::digest::{self, Verdict};
use crate::error::{Damage, Error};
use crate::warc::gzip::{self, Inflater};
use crate::warc::http1;
use crate::warc::record::{self, Record};

/// A record and its position.
#[derive(Debug, Clone)]
pub struct Located {
    /// The record.
    pub record: Record,
    /// The record's number in the file, counted from 0.
    pub number: u64,
    /// The offset of the record, or of its gzip member, in the file, bytes.
    pub offset: u64,
}

/// The name and content of a WARC file, mapped or inflated.
#[derive(Debug, Clone)]
pub struct WarcFile {
    /// The name for messages; a member of a WACZ as `FILE!member`.
    pub name: String,
    /// The content as stored in the file system or the zip entry.
    pub content: Bytes,
    /// Whether the container's checksum covers the content.
    pub is_checked: bool,
}

impl WarcFile {
    /// Reads all records.
    ///
    /// Gzip members and zip entries have checksums. A plain file has none, so the records' own
    /// digests are verified, if there are any.
    pub fn records(&self, budget: &mut ReadBudget) -> Result<Vec<Located>, Error> {
        let mut records = Vec::new();
        if !self.content.starts_with(gzip::MAGIC) {
            self.cut(&self.content, None, &mut records, budget)?;
            for located in records.iter().filter(|_| !self.is_checked) {
                self.verify(located)?;
            }
            return Ok(records);
        }
        let mut inflater = Inflater::new();
        let mut offset = 0;
        while offset < self.content.len() {
            let damaged = |reason| self.damage_error(records.len() as u64, offset as u64, reason);
            let member = inflater.member(&self.content[offset..], budget);
            let (content, bytes) = member.map_err(damaged)?;
            self.cut(&content, Some(offset as u64), &mut records, budget)?;
            offset += bytes;
        }
        Ok(records)
    }

    /// Compares a record's digests with its bytes; returns their number.
    pub fn verify(&self, located: &Located) -> Result<usize, Error> {
        let record = &located.record;
        let damaged = |what, recorded: &str, found| {
            let reason = Damage::Digest {
                what,
                recorded: recorded.to_owned(),
                found,
            };
            self.damage_error(located.number, located.offset, reason)
        };
        let mut compared = 0;
        if let Some(recorded) = record.field("WARC-Block-Digest") {
            match digest::compare(recorded, &record.block) {
                Verdict::Equal => compared += 1,
                Verdict::Differs(found) => return Err(damaged("block", recorded, found)),
                Verdict::UnknownAlgorithm => {}
            }
        }
        let Some(recorded) = record.field("WARC-Payload-Digest") else {
            return Ok(compared);
        };
        match compare_payload(record, recorded) {
            Some(Verdict::Equal) => Ok(compared + 1),
            Some(Verdict::Differs(found)) => Err(damaged("payload", recorded, found)),
            Some(Verdict::UnknownAlgorithm) | None => Ok(compared),
        }
    }

    /// Returns an error about the record `number`.
    pub fn damage_error(&self, number: u64, offset: u64, reason: Damage) -> Error {
        Error::Damaged {
            file: self.name.clone(),
            record: number,
            offset,
            reason,
        }
    }

    /// Splits `content` into records; `member` is the offset of their gzip member, if any.
    fn cut(
        &self,
        content: &Bytes,
        member: Option<u64>,
        records: &mut Vec<Located>,
        budget: &mut ReadBudget,
    ) -> Result<(), Error> {
        let mut position = 0;
        while position < content.len() {
            let number = records.len() as u64;
            let offset = member.unwrap_or(position as u64);
            let damaged = |reason| self.damage_error(number, offset, reason);
            budget.take_record().map_err(damaged)?;
            let (record, bytes) = record::parse(&content.slice(position..)).map_err(damaged)?;
            budget.spend_fields(&record.fields).map_err(damaged)?;
            records.push(Located {
                record,
                number,
                offset,
            });
            position += bytes;
        }
        Ok(())
    }
}

/// Compares a payload digest; returns `None` if the payload is not in this record.
///
/// Writers digest the payload of a chunked response either as recorded or decoded (the standard
/// requires the latter, most do the former), so either may match.
fn compare_payload(record: &Record, recorded: &str) -> Option<Verdict> {
    if !matches!(record.kind(), "response" | "request") {
        return (record.kind() == "resource").then(|| digest::compare(recorded, &record.block));
    }
    if !record
        .field("Content-Type")
        .unwrap_or("")
        .starts_with("application/http")
    {
        return Some(digest::compare(recorded, &record.block));
    }
    let message = http1::parse(&record.block).ok()?;
    match digest::compare(recorded, &message.raw_body) {
        Verdict::Differs(found) => {
            let decoded = {
                let mut budget = ReadBudget::for_file(record.block.len() as u64);
                http1::decode_body(&message, Some(recorded), &mut budget).ok()
            };
            match decoded.map(|body| digest::compare(recorded, &body)) {
                Some(Verdict::Equal) => Some(Verdict::Equal),
                _ => Some(Verdict::Differs(found)),
            }
        }
        verdict => Some(verdict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_plain_files_are_charged() {
        let head = "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:test:1>\r\n";
        let date = "WARC-Date: 2026-11-01T12:00:00Z\r\nContent-Length: 0\r\n";
        let record = format!("{head}{date}{}\r\n\r\n\r\n", "a:\n".repeat(1_900));
        let warc_file = WarcFile {
            name: "test.warc".to_owned(),
            content: Bytes::from(record.repeat(2_000)),
            is_checked: false,
        };
        let records = warc_file.records(&mut ReadBudget::for_file(0));
        let error = records.map(|records| records.len()).unwrap_err();
        let expected = "would take more than 83886080 bytes of memory";
        assert!(error.to_string().contains(expected), "{error}");
    }
}
