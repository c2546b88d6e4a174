//! Compresses certificates (RFC 8879) with Brotli, the algorithm that Chromium offers.

use brotli::enc::BrotliEncoderParams;
use rustls::CertificateCompressionAlgorithm;
use rustls::compress::{CertCompressor, CompressionFailed, CompressionLevel};

/// The quality for all handshakes alike: rustls keeps compressed chains, so that it costs once.
const QUALITY: i32 = 11;

/// Brotli as rustls calls it. rustls has one of its own behind a feature, over an older version of
/// the same library.
#[derive(Debug)]
pub(super) struct Brotli;

impl CertCompressor for Brotli {
    fn compress(&self, input: Vec<u8>, _: CompressionLevel) -> Result<Vec<u8>, CompressionFailed> {
        let parameters = BrotliEncoderParams {
            quality: QUALITY,
            size_hint: input.len(),
            ..BrotliEncoderParams::default()
        };
        let mut output = Vec::with_capacity(input.len());
        brotli::BrotliCompress(&mut input.as_slice(), &mut output, &parameters)
            .map_err(|_| CompressionFailed)?;
        Ok(output)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Brotli
    }
}
