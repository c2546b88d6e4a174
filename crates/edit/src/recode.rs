//! Encodes content codings, and detects the level of a recorded body's coding.

use std::fmt;
use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, GzBuilder};

use crate::error::Reason;

/// Brotli's usual window of 4 MiB, and its encoder's buffer.
const BROTLI_WINDOW_BITS: u32 = 22;
const BUFFER_BYTES: usize = 16 << 10;

/// The relative difference up to which sizes are of the same level: encoder versions differ by
/// this.
const SAME_LEVEL_SHARE: f64 = 0.005;

/// The largest text that is tried at slow levels, which take a second per megabyte.
const SLOW_LEVELS_BYTES_MAX: usize = 1 << 20;

/// A content coding with its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// No coding.
    Identity,
    /// gzip, level 1 to 9.
    Gzip(u32),
    /// zlib's format, level 1 to 9.
    Deflate(u32),
    /// Brotli, level 0 to 11.
    Brotli(u32),
    /// zstd, level 1 to 19: higher levels have windows that browsers refuse (RFC 9659, section 3).
    Zstd(i32),
}

impl Coding {
    /// Parses `br:11`, `zstd:19`, `gzip:9` or `identity`.
    pub fn read(text: &str) -> Result<Self, Reason> {
        let refused = || {
            format!(
                "`{text:.60}` is no coding; write identity, gzip:1 to gzip:9, br:0 to br:11 or \
                 zstd:1 to zstd:19"
            )
        };
        let (name, level) = text.split_once(':').unwrap_or((text, ""));
        let level = (!level.is_empty())
            .then(|| level.parse::<u32>())
            .transpose();
        match (name.trim(), level.map_err(|_| refused())?) {
            ("identity", None) => Ok(Coding::Identity),
            ("gzip", Some(level @ 1..=9)) => Ok(Coding::Gzip(level)),
            ("br", Some(level @ 0..=11)) => Ok(Coding::Brotli(level)),
            ("zstd", Some(level @ 1..=19)) => Ok(Coding::Zstd(level as i32)),
            _ => Err(refused()),
        }
    }

    /// Returns the value of `Content-Encoding`, or `None` without a coding.
    pub fn field(self) -> Option<&'static str> {
        match self {
            Coding::Identity => None,
            Coding::Gzip(_) => Some("gzip"),
            Coding::Deflate(_) => Some("deflate"),
            Coding::Brotli(_) => Some("br"),
            Coding::Zstd(_) => Some("zstd"),
        }
    }

    /// Encodes the body in this coding.
    pub fn encode(self, body: &[u8]) -> Vec<u8> {
        const TAKES: &str = "a vector takes every byte";
        match self {
            Coding::Identity => body.to_vec(),
            Coding::Gzip(level) => {
                let encoder = GzBuilder::new().mtime(0);
                let mut encoder = encoder.write(Vec::new(), Compression::new(level));
                encoder.write_all(body).expect(TAKES);
                encoder.finish().expect(TAKES)
            }
            Coding::Deflate(level) => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level));
                encoder.write_all(body).expect(TAKES);
                encoder.finish().expect(TAKES)
            }
            Coding::Brotli(level) => {
                let mut coded = Vec::new();
                let mut encoder = brotli::CompressorWriter::new(
                    &mut coded,
                    BUFFER_BYTES,
                    level,
                    BROTLI_WINDOW_BITS,
                );
                encoder.write_all(body).expect(TAKES);
                drop(encoder);
                coded
            }
            Coding::Zstd(level) => zstd::bulk::compress(body, level).expect(TAKES),
        }
    }

    /// Returns the coding `name` at the level that compresses `content` to about `coded_bytes`, or
    /// `None` if the coding is not supported.
    pub fn detect(name: &str, content: &[u8], coded_bytes: usize) -> Option<Self> {
        let levels: &[Coding] = match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => &GZIP,
            "deflate" => &DEFLATE,
            "br" => &BROTLI,
            "zstd" => &ZSTD,
            _ => return None,
        };
        let mut best = (levels[0], usize::MAX);
        for level in levels {
            if level.is_slow() && content.len() > SLOW_LEVELS_BYTES_MAX {
                continue;
            }
            let difference = level.encode(content).len().abs_diff(coded_bytes);
            if difference < best.1 {
                best = (*level, difference);
            }
            if best.1 as f64 <= SAME_LEVEL_SHARE * coded_bytes as f64 {
                break;
            }
        }
        Some(best.0)
    }

    fn is_slow(self) -> bool {
        matches!(self, Coding::Brotli(10..) | Coding::Zstd(16..))
    }
}

/// The usual levels of servers first, then those of files that were compressed in advance.
const GZIP: [Coding; 5] = [
    Coding::Gzip(6),
    Coding::Gzip(9),
    Coding::Gzip(5),
    Coding::Gzip(4),
    Coding::Gzip(1),
];
const DEFLATE: [Coding; 3] = [Coding::Deflate(6), Coding::Deflate(9), Coding::Deflate(1)];
const BROTLI: [Coding; 5] = [
    Coding::Brotli(5),
    Coding::Brotli(4),
    Coding::Brotli(11),
    Coding::Brotli(9),
    Coding::Brotli(1),
];
const ZSTD: [Coding; 5] = [
    Coding::Zstd(3),
    Coding::Zstd(1),
    Coding::Zstd(6),
    Coding::Zstd(12),
    Coding::Zstd(19),
];

impl fmt::Display for Coding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coding::Identity => formatter.write_str("identity"),
            Coding::Gzip(level) | Coding::Deflate(level) | Coding::Brotli(level) => {
                write!(formatter, "{}:{level}", self.field().unwrap_or(""))
            }
            Coding::Zstd(level) => write!(formatter, "zstd:{level}"),
        }
    }
}
