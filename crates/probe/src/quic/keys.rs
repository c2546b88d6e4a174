//! Packet protection between rustls and the QUIC library; for version 2 with its packet numbering.
//! Multipath is never offered, so a packet's path is always the first, which changes no nonce.

use super::packets::{first_byte_of_version2, is_version2};
use crate::protocol::QUIC_V2;
use bytes::BytesMut;
use noq_proto::PathId;
use noq_proto::crypto::{self, CryptoError, KeyPair, Keys, UnsupportedVersion};
use rustls::CipherSuite;
use rustls::quic::{self, Suite, Version};

/// The limit of a header: more than QUIC's longest with a token of reasonable length.
const HEADER_BYTES_MAX: usize = 1500;

pub(super) struct Header(pub Box<dyn quic::HeaderProtectionKey>);

impl crypto::HeaderKey for Header {
    fn decrypt(&self, offset: usize, packet: &mut [u8]) {
        let (header, sample) = packet.split_at_mut(offset + 4);
        let (first, rest) = header.split_at_mut(1);
        let sample = &sample[..self.0.sample_len()];
        // Fails only for wrong lengths; these are right by construction.
        let _ = self
            .0
            .decrypt_in_place(sample, &mut first[0], &mut rest[offset - 1..offset + 3]);
    }

    fn encrypt(&self, offset: usize, packet: &mut [u8]) {
        let (header, sample) = packet.split_at_mut(offset + 4);
        let (first, rest) = header.split_at_mut(1);
        let sample = &sample[..self.0.sample_len()];
        let _ = self
            .0
            .encrypt_in_place(sample, &mut first[0], &mut rest[offset - 1..offset + 3]);
    }

    fn sample_size(&self) -> usize {
        self.0.sample_len()
    }
}

pub(super) struct Packet(pub Box<dyn quic::PacketKey>);

impl crypto::PacketKey for Packet {
    fn encrypt(&self, _path: PathId, number: u64, packet: &mut [u8], header_bytes: usize) {
        if is_version2(packet) {
            packet[0] = first_byte_of_version2(packet[0]);
        }
        let (header, rest) = packet.split_at_mut(header_bytes);
        let (payload, tag) = rest.split_at_mut(rest.len() - self.0.tag_len());
        // Fails only for packets beyond the limit of AEADs, gigabytes long.
        if let Ok(made) = self.0.encrypt_in_place(number, header, payload) {
            tag.copy_from_slice(made.as_ref());
        }
    }

    fn decrypt(
        &self,
        _path: PathId,
        number: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let mut copy = [0; HEADER_BYTES_MAX];
        let mut header = header;
        if is_version2(header) {
            let own = copy.get_mut(..header.len()).ok_or(CryptoError)?;
            own.copy_from_slice(header);
            own[0] = first_byte_of_version2(own[0]);
            header = own;
        }
        let length = self
            .0
            .decrypt_in_place(number, header, payload)
            .map_err(|_| CryptoError)?
            .len();
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

pub(super) fn convert_keys(keys: quic::Keys) -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(Header(keys.local.header)),
            remote: Box::new(Header(keys.remote.header)),
        },
        packet: KeyPair {
            local: Box::new(Packet(keys.local.packet)),
            remote: Box::new(Packet(keys.remote.packet)),
        },
    }
}

pub(super) fn version_of(version: u32) -> Result<Version, UnsupportedVersion> {
    match version {
        1 => Ok(Version::V1),
        QUIC_V2 => Ok(Version::V2),
        _ => Err(UnsupportedVersion),
    }
}

pub(super) fn initial_suite(provider: &rustls::crypto::CryptoProvider) -> Suite {
    provider
        .cipher_suites
        .iter()
        .find(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256)
        .and_then(|suite| suite.tls13()?.quic_suite())
        .expect("every provider of this crate has AES-128-GCM")
}
