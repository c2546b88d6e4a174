//! Gzip members (RFC 1952), inflated one by one within a budget.

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};

use crate::budget::ReadBudget;
use crate::error::Damage;

pub use crate::coding::GZIP_MAGIC as MAGIC;

/// The initial capacity for a member, bytes: most records of a page are smaller, and it doubles
/// when full.
const CAPACITY_BYTES_FIRST: usize = 32 << 10;

/// Inflates members with shared tables, which cost more to create than a typical record takes to
/// inflate.
pub struct Inflater {
    raw: Decompress,
}

impl Inflater {
    /// Creates an inflater for any number of members.
    pub fn new() -> Self {
        Inflater {
            raw: Decompress::new(false),
        }
    }

    /// Inflates the member at the beginning of `input` and verifies its checksum and length.
    ///
    /// Returns its content and the number of bytes that the member takes in `input`.
    pub fn member(
        &mut self,
        input: &[u8],
        budget: &mut ReadBudget,
    ) -> Result<(Bytes, usize), Damage> {
        let head_bytes = head_length(input)?;
        let (mut content, deflated_bytes) = self.inflate(&input[head_bytes..], budget)?;
        // Otherwise each of 300,000 small records would keep its initial capacity.
        content.shrink_to_fit();
        budget.spend(content.len() as u64)?;
        let end = head_bytes + deflated_bytes;
        let trailer = input.get(end..end + 8).ok_or_else(cut_off)?;
        let word = |at: usize| u32::from_le_bytes(trailer[at..at + 4].try_into().expect("4 bytes"));
        if word(0) != crc32fast::hash(&content) || word(4) != content.len() as u32 {
            return Err(broken("its checksum or length is not the recorded one"));
        }
        Ok((Bytes::from(content), end + 8))
    }

    /// Inflates a deflate stream; returns its content and its length in `input`.
    fn inflate(&mut self, input: &[u8], budget: &ReadBudget) -> Result<(Vec<u8>, usize), Damage> {
        self.raw.reset(false);
        let mut content = Vec::with_capacity(CAPACITY_BYTES_FIRST);
        loop {
            let (consumed, produced) = (self.raw.total_in() as usize, content.len());
            let status = self
                .raw
                .decompress_vec(&input[consumed..], &mut content, FlushDecompress::Finish)
                .map_err(|error| broken(&error.to_string()))?;
            let total_in = self.raw.total_in() as usize;
            if status == Status::StreamEnd {
                return Ok((content, total_in));
            }
            if content.len() as u64 > budget.bytes_left() {
                return Err(budget.inflates_too_far());
            }
            if content.len() < content.capacity()
                && (total_in, content.len()) == (consumed, produced)
            {
                return Err(cut_off());
            }
            if content.len() == content.capacity() {
                // One byte beyond the budget is enough to detect a bomb.
                let room = budget.bytes_left() - content.len() as u64 + 1;
                content.reserve_exact((content.len() as u64).min(room) as usize);
            }
        }
    }
}

/// Returns the length of a member's head (RFC 1952, section 2.3).
fn head_length(input: &[u8]) -> Result<usize, Damage> {
    const FIXED_BYTES: usize = 10;
    const DEFLATE: u8 = 8;
    let (has_checksum, has_extra, has_name, has_comment, reserved) = (2, 4, 8, 16, 0xe0);
    if !input.starts_with(MAGIC) {
        return Err(broken("no gzip header is there"));
    }
    let fixed = input.get(..FIXED_BYTES).ok_or_else(cut_off)?;
    let flags = fixed[3];
    if fixed[2] != DEFLATE || flags & reserved != 0 {
        return Err(broken("its header asks for what gzip does not have"));
    }
    let mut end = FIXED_BYTES;
    if flags & has_extra != 0 {
        let length = input.get(end..end + 2).ok_or_else(cut_off)?;
        end += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for flag in [has_name, has_comment] {
        if flags & flag != 0 {
            let text = input.get(end..).ok_or_else(cut_off)?;
            end += text
                .iter()
                .position(|&byte| byte == 0)
                .ok_or_else(cut_off)?
                + 1;
        }
    }
    if flags & has_checksum != 0 {
        let checksum = input.get(end..end + 2).ok_or_else(cut_off)?;
        let found = crc32fast::hash(&input[..end]) as u16;
        if found != u16::from_le_bytes([checksum[0], checksum[1]]) {
            return Err(broken("its header's checksum is not the recorded one"));
        }
        end += 2;
    }
    if end > input.len() {
        Err(cut_off())
    } else {
        Ok(end)
    }
}

fn broken(what: &str) -> Damage {
    Damage::Gzip(what.to_owned())
}

fn cut_off() -> Damage {
    broken("it is cut off")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, GzBuilder};

    use super::*;

    fn inflate(input: &[u8]) -> Result<(Bytes, usize), Damage> {
        Inflater::new().member(input, &mut ReadBudget::for_file(input.len() as u64))
    }

    fn compress_with_all_fields(content: &[u8], level: u32) -> Vec<u8> {
        let builder = GzBuilder::new().filename("a").comment("b").extra(*b"cde");
        let mut encoder = builder.write(Vec::new(), Compression::new(level));
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_with_every_optional_field_inflate() {
        let content: Vec<u8> = (0..200_000u32)
            .flat_map(|number| number.to_le_bytes())
            .collect();
        let mut inflater = Inflater::new();
        for length in [
            0,
            1,
            CAPACITY_BYTES_FIRST - 1,
            CAPACITY_BYTES_FIRST,
            CAPACITY_BYTES_FIRST + 1,
            800_000,
        ] {
            for level in [0, 6] {
                let member = compress_with_all_fields(&content[..length], level);
                let mut input = member.clone();
                input.extend_from_slice(b"what follows");
                let mut budget = ReadBudget::for_file(input.len() as u64);
                let (inflated, bytes) = inflater.member(&input, &mut budget).unwrap();
                assert!(
                    inflated == content[..length] && bytes == member.len(),
                    "{length}, {level}"
                );
            }
        }
    }

    #[test]
    fn a_small_member_keeps_no_room_for_a_large_one() {
        let content = b"some content";
        let (inflated, _) = inflate(&compress_with_all_fields(content, 6)).unwrap();
        let room_bytes = inflated.try_into_mut().unwrap().capacity();
        assert_eq!(room_bytes, content.len());
    }

    #[test]
    fn every_cut_is_refused() {
        let member = compress_with_all_fields(b"some content, some content", 6);
        for length in 0..member.len() {
            assert!(
                matches!(inflate(&member[..length]), Err(Damage::Gzip(_))),
                "{length}"
            );
        }
    }

    #[test]
    fn every_flipped_bit_is_refused_or_harmless() {
        let content = b"some content, some content";
        let member = compress_with_all_fields(content, 6);
        for bit in 0..member.len() * 8 {
            let mut damaged = member.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok((inflated, _)) = inflate(&damaged) {
                assert_eq!(&inflated[..], content, "bit {bit}");
            }
        }
    }
}
