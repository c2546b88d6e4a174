//! The entries that our encoder puts into the table: those of h2's HPACK, within QPACK's rules.

use eyelevel_http3::head::response_lines;
use eyelevel_http3::qpack::{Decoded, Decoder, Encoder, FieldLine, Indexing};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

struct Ends {
    encoder: Encoder,
    decoder: Decoder,
    stream: u64,
    instructions: Vec<u8>,
}

impl Ends {
    fn new(table_bytes: u64, blocked_streams_max: u64) -> Self {
        let mut encoder = Encoder::new();
        encoder.on_settings(table_bytes, table_bytes, blocked_streams_max);
        let mut decoder = Decoder::new(table_bytes, blocked_streams_max);
        decoder
            .on_encoder_stream(&encoder.take_instructions())
            .unwrap();
        Self {
            encoder,
            decoder,
            stream: 0,
            instructions: Vec::new(),
        }
    }

    /// Returns the bytes of the section and of the inserts; both arrive, and the acknowledgement if
    /// `is_acknowledged`.
    fn send(&mut self, lines: &[FieldLine<'_>], is_acknowledged: bool) -> (usize, usize) {
        let section = self
            .encoder
            .encode(self.stream, lines.iter().copied(), true);
        let inserts = self.encoder.take_instructions();
        self.decoder.on_encoder_stream(&inserts).unwrap();
        let decoded = self.decoder.decode(self.stream, &section, 1 << 20).unwrap();
        let Decoded::Fields(fields) = decoded else {
            panic!("{decoded:?}");
        };
        assert!(
            (fields
                .iter()
                .map(|field| (&field.name[..], &field.value[..])))
            .eq(lines.iter().map(|line| (line.name, line.value)))
        );
        self.stream += 4;
        self.instructions.extend(self.decoder.take_instructions());
        if is_acknowledged {
            let instructions = std::mem::take(&mut self.instructions);
            self.encoder.on_decoder_stream(&instructions).unwrap();
        }
        (section.len(), inserts.len())
    }
}

fn line<'a>(name: &'a str, value: &'a str) -> FieldLine<'a> {
    FieldLine {
        name: name.as_bytes(),
        value: value.as_bytes(),
        indexing: Indexing::Allowed,
    }
}

fn indexing(name: &str, headers: &HeaderMap) -> Vec<Indexing> {
    let status = StatusCode::OK;
    response_lines(&status, headers)
        .filter(|line| line.name == name.as_bytes())
        .map(|line| line.indexing)
        .collect()
}

#[test]
fn the_fields_that_h2_leaves_out_are_left_out() {
    let mut headers = HeaderMap::new();
    for name in [
        "etag",
        "content-length",
        "set-cookie",
        "age",
        "location",
        "cookie",
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static("x"));
        assert_eq!(indexing(name, &headers), [Indexing::Skipped], "{name}");
    }
    for name in ["server", "last-modified", "x-own"] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static("x"));
        assert_eq!(indexing(name, &headers), [Indexing::Allowed], "{name}");
    }
    headers.append("x-own", HeaderValue::from_static("y"));
    assert_eq!(
        indexing("x-own", &headers),
        [Indexing::Allowed, Indexing::Skipped]
    );
    let mut secret = HeaderValue::from_static("x");
    secret.set_sensitive(true);
    headers.insert("x-secret", secret);
    assert_eq!(indexing("x-secret", &headers), [Indexing::Never]);
}

#[test]
fn a_field_is_inserted_once_and_then_takes_a_byte() {
    let mut ends = Ends::new(4096, 100);
    let lines = [line("x-own", "a value"), line("server", "some server")];
    let (first, inserts) = ends.send(&lines, false);
    assert!(inserts > 15);
    assert_eq!(
        first,
        2 + 2,
        "a prefix and two references, before any acknowledgement"
    );
    assert_eq!(ends.send(&lines, true), (4, 0));
}

#[test]
fn fields_that_would_fill_most_of_the_table_are_not_inserted() {
    let mut ends = Ends::new(400, 100);
    let long = "~".repeat(300 - 32 - 1);
    assert!(ends.send(&[line("x", &long)], true).1 > 0);
    let longer = "~".repeat(301 - 32 - 1);
    assert_eq!(ends.send(&[line("x", &longer)], true).1, 0);
}

#[test]
fn sensitive_values_are_never_inserted_and_are_marked() {
    let mut ends = Ends::new(4096, 100);
    let secret = FieldLine {
        indexing: Indexing::Never,
        ..line("x-own", "a secret")
    };
    for _ in 0..3 {
        assert_eq!(ends.send(&[secret], true).1, 0);
    }
    let section = ends.encoder.encode(1000, [secret], true);
    assert_eq!(section[2] & 0xf0, 0x30, "a literal name with the bit N");
}

#[test]
fn without_leave_to_block_nothing_is_referred_to_before_it_is_acknowledged() {
    let mut ends = Ends::new(4096, 0);
    let field = [line("x-own", "a value of some length")];
    let (literal, none) = ends.send(&field, true);
    assert_eq!(none, 0, "a value that may never come again");
    let (still, inserts) = ends.send(&field, false);
    assert!(inserts > 0 && still == literal, "inserted for later");
    assert_eq!(
        ends.send(&field, true),
        (literal, 0),
        "the peer may not have it so far"
    );
    assert_eq!(ends.send(&field, true), (3, 0));
}

#[test]
fn no_more_streams_may_block_than_allowed() {
    let mut ends = Ends::new(4096, 2);
    for number in 0..2 {
        let value = number.to_string();
        assert_eq!(ends.send(&[line("x-own", &value)], false).0, 3);
    }
    assert!(ends.send(&[line("x-own", "a third")], true).0 > 3);
}

#[test]
fn entries_in_use_are_copied_before_they_would_have_to_go() {
    let mut ends = Ends::new(600, 100);
    let kept = line(
        "x-kept",
        "a value that comes with each of them, forty letters",
    );
    let mut sections = 0;
    for number in 0..100 {
        let value = format!("value {number}");
        let (section, inserts) = ends.send(&[kept, line("x-changing", &value)], true);
        // An insert of the changing one has a dozen bytes, of the kept one forty; the table holds
        // less than ten of both.
        assert!(
            number == 0 || inserts < 20,
            "the kept one is inserted once: {inserts}"
        );
        sections += section;
    }
    assert!(sections <= 100 * 5, "{sections}");
}

#[test]
fn a_peer_that_never_acknowledges_is_sent_literals_in_the_end() {
    let mut ends = Ends::new(4096, 1 << 20);
    let field = [line("x-own", "a value")];
    for _ in 0..3000 {
        ends.send(&field, false);
    }
    assert!(ends.send(&field, false).0 > 5);
}

#[test]
fn unacknowledged_inserts_stay_without_references() {
    // Two entries. None is acknowledged, and all streams that referred to them are cancelled.
    let mut encoder = Encoder::new();
    encoder.on_settings(96, 96, 100);
    encoder.take_instructions();
    let mut inserts = 0;
    for stream in 0..10 {
        let value = stream.to_string();
        encoder.encode(stream, [line("x-own", &value)], true);
        inserts += usize::from(!encoder.take_instructions().is_empty());
        let cancelled = 0x40 | u8::try_from(stream).unwrap();
        encoder.on_decoder_stream(&[cancelled]).unwrap();
    }
    assert_eq!(
        inserts, 2,
        "a required insert count beyond could be read as another"
    );
}
