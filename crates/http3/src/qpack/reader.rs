use super::huffman;
use bytes::Bytes;

/// The largest number, of 62 bits (RFC 9204, section 4.1.1).
const NUMBER_MAX: u64 = (1 << 62) - 1;

/// The reason why nothing could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// It continues beyond the available bytes.
    Short,
    /// It is invalid.
    Wrong(&'static str),
}

/// A reader of numbers and strings (RFC 9204, section 4.1).
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the next byte without consuming it.
    pub fn peek(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    /// Returns the number of remaining bytes.
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a number whose first bits are the last ones of the next byte.
    pub fn number(&mut self, prefix_bits: u32) -> Result<u64, ReadError> {
        let full = (1u64 << prefix_bits) - 1;
        let mut value = u64::from(self.byte()?) & full;
        if value < full {
            return Ok(value);
        }
        let mut shift = 0;
        loop {
            let byte = self.byte()?;
            let more = u64::from(byte & 0x7f);
            // Nine groups of seven bits are 63.
            if shift > 56 {
                return Err(ReadError::Wrong("a number beyond 62 bits"));
            }
            value += more << shift;
            if value > NUMBER_MAX {
                return Err(ReadError::Wrong("a number beyond 62 bits"));
            }
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    /// Reads a string whose length begins in the next byte, after the bit that marks Huffman code;
    /// `bytes_max` is its largest decoded size.
    pub fn string(&mut self, prefix_bits: u32, bytes_max: u64) -> Result<Bytes, ReadError> {
        let is_coded = self.peek().ok_or(ReadError::Short)? & (1 << prefix_bits) != 0;
        let length = self.number(prefix_bits)?;
        // A code has at most 30 bits per byte.
        let longest = if is_coded {
            bytes_max.saturating_mul(4)
        } else {
            bytes_max
        };
        if length > longest {
            return Err(ReadError::Wrong("a string that is longer than allowed"));
        }
        let length = usize::try_from(length).map_err(|_| ReadError::Short)?;
        let (text, rest) = self
            .bytes
            .split_at_checked(length)
            .ok_or(ReadError::Short)?;
        self.bytes = rest;
        if !is_coded {
            return Ok(Bytes::copy_from_slice(text));
        }
        let text =
            huffman::decode(text).ok_or(ReadError::Wrong("a string not in Huffman's code"))?;
        if text.len() as u64 > bytes_max {
            return Err(ReadError::Wrong("a string that is longer than allowed"));
        }
        Ok(text.into())
    }

    fn byte(&mut self) -> Result<u8, ReadError> {
        let (first, rest) = self.bytes.split_first().ok_or(ReadError::Short)?;
        self.bytes = rest;
        Ok(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bits::{write_number, write_string};
    use super::*;

    #[test]
    fn numbers_are_those_of_rfc_7541() {
        // Appendix C.1.
        for (value, prefix_bits, bytes) in [
            (10, 5, &[0x0a][..]),
            (1337, 5, &[0x1f, 0x9a, 0x0a]),
            (42, 8, &[0x2a]),
        ] {
            let mut written = Vec::new();
            write_number(&mut written, 0, prefix_bits, value);
            assert_eq!(written, bytes);
        }
        for value in [0, 1, 30, 31, 32, 127, 128, 255, 16_383, 1 << 40, NUMBER_MAX] {
            for prefix_bits in 3..=8 {
                let mut written = Vec::new();
                write_number(&mut written, 0, prefix_bits, value);
                let mut reader = Reader::new(&written);
                assert_eq!(reader.number(prefix_bits), Ok(value));
                assert_eq!(reader.remaining(), 0);
                for end in 0..written.len() {
                    let read = Reader::new(&written[..end]).number(prefix_bits);
                    assert_eq!(read, Err(ReadError::Short));
                }
            }
        }
    }

    #[test]
    fn endless_numbers_and_strings_are_refused() {
        let mut beyond = Vec::new();
        write_number(&mut beyond, 0, 7, NUMBER_MAX + 1);
        for bytes in [&beyond[..], &[0x7f; 40], &[0xff; 40], &[0x7f, 0x80, 0x80]] {
            assert_ne!(Reader::new(bytes).number(7), Ok(0), "{bytes:?}");
        }
        let wrong = |bytes: &[u8]| matches!(Reader::new(bytes).number(7), Err(ReadError::Wrong(_)));
        assert!(wrong(&beyond) && wrong(&[0xff; 40]));
        let mut long = Vec::new();
        write_string(&mut long, 0, 7, &[b'a'; 101]);
        assert!(matches!(
            Reader::new(&long).string(7, 100),
            Err(ReadError::Wrong(_))
        ));
        assert_eq!(Reader::new(&long).string(7, 101).unwrap(), [b'a'; 101][..]);
    }
}
