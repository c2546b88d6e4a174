//! Pure: the integrity tag of Retry packets.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use noq_proto::ConnectionId;
use rustls::quic::Version;

/// Key and nonce of RFC 9001, section 5.8.
const RETRY_V1: ([u8; 16], [u8; 12]) = (
    0xbe0c_690b_9f66_575a_1d76_6b54_e368_c84e_u128.to_be_bytes(),
    [
        0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb,
    ],
);
/// Key and nonce of RFC 9369, section 3.3.3.
const RETRY_V2: ([u8; 16], [u8; 12]) = (
    0x8fb4_b01b_56ac_48e2_60fb_cbce_ad7c_cc92_u128.to_be_bytes(),
    [
        0xd8, 0x69, 0x69, 0xbc, 0x2d, 0x7c, 0x6d, 0x99, 0x90, 0xef, 0xb0, 0x4a,
    ],
);

/// Returns the tag of a Retry packet without its own, for the client's first destination `id`.
pub fn retry_tag(version: Version, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
    let (key, nonce) = match version {
        Version::V2 => RETRY_V2,
        _ => RETRY_V1,
    };
    let mut pseudo = vec![id.len() as u8];
    pseudo.extend_from_slice(id);
    pseudo.extend_from_slice(packet);
    let key = UnboundKey::new(&AES_128_GCM, &key).expect("16 bytes are a key of AES-128");
    let tag = LessSafeKey::new(key)
        .seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(pseudo),
            &mut [],
        )
        .expect("nothing is encrypted, so nothing is too long");
    tag.as_ref().try_into().expect("tags of GCM have 16 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::QUIC_V2;

    /// RFC 9001, appendix A.4, and RFC 9369, appendix A.4: the Retry packets without their tags.
    #[test]
    fn retry_tags_are_those_of_the_rfcs() {
        let id = ConnectionId::new(&0x8394_c8f0_3e51_5708_u64.to_be_bytes());
        let mut packet = vec![0xff, 0, 0, 0, 1, 0, 8];
        packet.extend(0xf067_a550_2a42_62b5_u64.to_be_bytes());
        packet.extend(b"token");
        let tag = retry_tag(Version::V1, &id, &packet);
        assert_eq!(
            u128::from_be_bytes(tag),
            0x04a2_65ba_2eff_4d82_9058_fb3f_0f24_96ba
        );
        packet[0] = 0xcf;
        packet[1..5].copy_from_slice(&QUIC_V2.to_be_bytes());
        let tag = retry_tag(Version::V2, &id, &packet);
        assert_eq!(
            u128::from_be_bytes(tag),
            0xc864_6ce8_bfe3_3952_d955_5436_65dc_c7b6
        );
    }
}
