use crate::targets::check_message;
use eyelevel_http3::head;
use eyelevel_http3::hpack;
use eyelevel_http3::qpack::{Decoded, Decoder, Encoder, FieldLine, Indexing};

const TABLE_BYTES: u64 = 512;
const BLOCKED_STREAMS: u64 = 4;
const SECTION_BYTES_MAX: u64 = 4096;

/// Parses the input three times: as a peer's bytes, in parts of an encoder's stream, a decoder's
/// and sections; as fields that our encoder writes and our decoder reads, with some inserts late;
/// and as sections of HPACK.
pub(crate) fn run(input: &[u8]) {
    check_peer_bytes(input);
    check_round_trip(input);
    check_hpack(input);
}

fn check_hpack(input: &[u8]) {
    let mut decoder = hpack::Decoder::new(TABLE_BYTES, SECTION_BYTES_MAX);
    for part in input.chunks(40) {
        let Some(fields) = decoder.section(part) else {
            return;
        };
        let size: u64 = fields.iter().map(|field| field.size()).sum();
        assert!(size <= SECTION_BYTES_MAX);
    }
}

/// Parses parts that begin with a byte that selects the stream and one with their length.
fn check_peer_bytes(mut input: &[u8]) {
    let mut decoder = Decoder::new(TABLE_BYTES, BLOCKED_STREAMS);
    let mut encoder = Encoder::new();
    encoder.on_settings(TABLE_BYTES, TABLE_BYTES, BLOCKED_STREAMS);
    let mut stream = 0;
    while let [kind, length, rest @ ..] = input {
        let (part, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        input = rest;
        let said = match kind % 4 {
            0 => decoder.on_encoder_stream(part).map(drop),
            1 => encoder.on_decoder_stream(part),
            2 => {
                let lines = part.chunks(3).map(|value| FieldLine {
                    name: b"x-name",
                    value,
                    indexing: Indexing::Allowed,
                });
                let section = encoder.encode(stream, lines, kind & 4 == 0);
                assert!(section.len() <= 16 + 16 * part.len().max(1));
                Ok(())
            }
            _ => read(&mut decoder, stream, part),
        };
        stream += 4;
        if let Err(error) = said {
            return check_message(&error);
        }
        assert!(decoder.table_bytes() <= TABLE_BYTES);
        // An acknowledgement is one number, and there is at most one per part.
        assert!(decoder.take_instructions().len() <= 32);
    }
}

fn read(decoder: &mut Decoder, stream: u64, section: &[u8]) -> Result<(), eyelevel_http3::Error> {
    if let Decoded::Fields(fields) = decoder.decode(stream, section, SECTION_BYTES_MAX)? {
        let bytes: u64 = fields.iter().map(|field| field.size()).sum();
        assert!(bytes <= SECTION_BYTES_MAX);
        // A head is built from it or refused with a message.
        for refused in [
            head::request(fields.clone()).err(),
            head::response(fields).err(),
        ] {
            refused.iter().for_each(check_message);
        }
    }
    Ok(())
}

fn check_round_trip(input: &[u8]) {
    let mut encoder = Encoder::new();
    let mut decoder = Decoder::new(TABLE_BYTES, BLOCKED_STREAMS);
    encoder.on_settings(TABLE_BYTES, TABLE_BYTES, BLOCKED_STREAMS);
    let (mut late, mut waiting) = (Vec::new(), Vec::new());
    for (number, section_of) in input.chunks(24).enumerate() {
        let stream = 4 * number as u64;
        let fields: Vec<(&[u8], &[u8])> = section_of
            .chunks(6)
            .map(|field| field.split_at(field.len().min(1)))
            .collect();
        let lines = fields.iter().map(|(name, value)| FieldLine {
            name,
            value,
            indexing: Indexing::Allowed,
        });
        let section = encoder.encode(stream, lines, true);
        late.extend(encoder.take_instructions());
        waiting.push((stream, section, fields));
        let arrives = section_of[0] % 3 != 0;
        if arrives {
            decoder
                .on_encoder_stream(&late)
                .expect("our own encoder's instructions");
            late.clear();
        }
        waiting.retain(|(stream, section, fields)| {
            let decoded = decoder.decode(*stream, section, 1 << 20);
            match decoded.expect("our own encoder's section") {
                Decoded::Blocked => true,
                Decoded::TooLarge => panic!("nothing is that large"),
                Decoded::Fields(read) => {
                    let read = read.iter().map(|field| (&field.name[..], &field.value[..]));
                    assert!(read.eq(fields.iter().copied()));
                    false
                }
            }
        });
        if section_of[0] % 5 != 0 {
            let told = decoder.take_instructions();
            encoder
                .on_decoder_stream(&told)
                .expect("our own decoder's instructions");
        }
    }
    assert!(
        waiting.is_empty() || !late.is_empty(),
        "what has come is read"
    );
}
