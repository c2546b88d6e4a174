//! Encoder and decoder with QUIC's streams arriving in any order: the decoded fields equal the
//! encoded ones, nothing waits for ever, and no more streams wait than allowed.

use eyelevel_http3::qpack::{Decoded, Decoder, Encoder, Field, FieldLine, Indexing};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const NAMES: [&str; 8] = [
    ":path",
    "cookie",
    "x-a",
    "x-b",
    "x-long-name-of-a-field",
    "vary",
    "date",
    "server",
];
const SECTION_BYTES_MAX: u64 = 1 << 16;

/// An action of the test.
#[derive(Clone, Debug)]
enum Act {
    /// Fields are encoded: by name, value, and how they are indexed.
    Encode(Vec<(usize, u8, u8)>),
    /// Some bytes of the encoder's stream arrive.
    Instructions(usize),
    /// The section in flight with that number arrives.
    Section(usize),
    /// The stream of that section is reset: it will never arrive.
    Reset(usize),
    /// The decoder's instructions arrive, in two parts.
    Told(usize),
    /// The encoder's stream is full, or is not any more.
    Full(bool),
}

fn act() -> impl Strategy<Value = Act> {
    let field = (0..NAMES.len(), 0u8..12, 0u8..12);
    prop_oneof![
        3 => proptest::collection::vec(field, 0..8).prop_map(Act::Encode),
        3 => (0usize..60).prop_map(Act::Instructions),
        3 => (0usize..8).prop_map(Act::Section),
        1 => (0usize..8).prop_map(Act::Reset),
        2 => (0usize..4).prop_map(Act::Told),
        1 => any::<bool>().prop_map(Act::Full),
    ]
}

/// A stream's section and its fields.
struct Sent {
    stream: u64,
    section: Vec<u8>,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

struct Ends {
    encoder: Encoder,
    decoder: Decoder,
    blocked_streams_max: u64,
    is_full: bool,
    next_stream: u64,
    instructions: VecDeque<u8>,
    on_their_way: Vec<Sent>,
    blocked: BTreeMap<u64, Sent>,
    to_encoder: VecDeque<u8>,
    references: usize,
}

impl Ends {
    fn new(offered: u64, table_bytes: u64, blocked_streams_max: u64) -> Self {
        let mut encoder = Encoder::new();
        encoder.on_settings(offered, table_bytes, blocked_streams_max);
        Self {
            encoder,
            decoder: Decoder::new(offered, blocked_streams_max),
            blocked_streams_max,
            is_full: false,
            next_stream: 0,
            instructions: VecDeque::new(),
            on_their_way: Vec::new(),
            blocked: BTreeMap::new(),
            to_encoder: VecDeque::new(),
            references: 0,
        }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Encode(fields) => self.encode(fields),
            Act::Instructions(count) => self.arrive(*count),
            Act::Section(at) => {
                if let Some(sent) = self.take(*at) {
                    self.decode(sent);
                }
            }
            Act::Reset(at) => {
                if let Some(sent) = self.take(*at) {
                    self.decoder.cancel(sent.stream);
                } else if let Some((stream, _)) = self.blocked.pop_first() {
                    self.decoder.cancel(stream);
                }
            }
            Act::Told(count) => self.deliver_instructions(*count),
            Act::Full(is_full) => self.is_full = *is_full,
        }
    }

    fn encode(&mut self, fields: &[(usize, u8, u8)]) {
        let field_names: Vec<(Vec<u8>, Vec<u8>, Indexing)> = (fields.iter())
            .map(|(name, value, how)| {
                let indexing = match how {
                    0 => Indexing::Never,
                    1 => Indexing::Skipped,
                    _ => Indexing::Allowed,
                };
                // From empty to more than the table holds.
                let value = vec![b'a' + value; usize::from(*value) * usize::from(*value) * 3];
                (NAMES[*name].as_bytes().to_vec(), value, indexing)
            })
            .collect();
        let lines = field_names.iter().map(|(name, value, indexing)| FieldLine {
            name,
            value,
            indexing: *indexing,
        });
        let stream = self.next_stream;
        self.next_stream += 4;
        let section = self.encoder.encode(stream, lines, !self.is_full);
        self.references += usize::from(section[0] > 0);
        self.instructions.extend(self.encoder.take_instructions());
        let fields = field_names
            .into_iter()
            .map(|(name, value, _)| (name, value))
            .collect();
        self.on_their_way.push(Sent {
            stream,
            section,
            fields,
        });
    }

    fn take(&mut self, at: usize) -> Option<Sent> {
        (at < self.on_their_way.len()).then(|| self.on_their_way.swap_remove(at))
    }

    fn arrive(&mut self, count: usize) {
        let count = count.min(self.instructions.len());
        let bytes: Vec<u8> = self.instructions.drain(..count).collect();
        if self.decoder.on_encoder_stream(&bytes).unwrap() {
            for (_, sent) in std::mem::take(&mut self.blocked) {
                self.decode(sent);
            }
        }
    }

    fn decode(&mut self, sent: Sent) {
        let decoded = self
            .decoder
            .decode(sent.stream, &sent.section, SECTION_BYTES_MAX);
        match decoded.unwrap() {
            Decoded::Blocked => {
                self.blocked.insert(sent.stream, sent);
                assert!(self.blocked.len() as u64 <= self.blocked_streams_max);
            }
            Decoded::TooLarge => panic!("nothing is that large"),
            Decoded::Fields(fields) => {
                let fields = fields
                    .into_iter()
                    .map(|Field { name, value }| (name, value));
                let fields: Vec<(Vec<u8>, Vec<u8>)> = fields
                    .map(|(name, value)| (name.to_vec(), value.to_vec()))
                    .collect();
                assert_eq!(fields, sent.fields);
            }
        }
    }

    fn deliver_instructions(&mut self, count: usize) {
        self.to_encoder.extend(self.decoder.take_instructions());
        let count = count.min(self.to_encoder.len());
        let bytes: Vec<u8> = self.to_encoder.drain(..count).collect();
        self.encoder.on_decoder_stream(&bytes).unwrap();
    }

    /// Delivers everything.
    fn settle(&mut self) {
        while let Some(sent) = self.on_their_way.pop() {
            self.decode(sent);
        }
        self.arrive(usize::MAX);
        assert!(self.blocked.is_empty(), "some wait for ever");
        self.deliver_instructions(usize::MAX);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decoded_fields_equal_encoded_ones(
        offered in prop_oneof![Just(0u64), 0u64..2000, Just(65_536)],
        table_bytes in prop_oneof![Just(0u64), 0u64..2000, Just(4096)],
        blocked_streams_max in prop_oneof![Just(0u64), 1u64..4, Just(100)],
        acts in proptest::collection::vec(act(), 0..80),
    ) {
        let mut ends = Ends::new(offered, table_bytes, blocked_streams_max);
        for act in &acts {
            ends.act(act);
        }
        ends.settle();
        if offered == 0 || table_bytes == 0 {
            prop_assert_eq!(ends.references, 0);
        }
        // After all that the same ends still work together.
        for _ in 0..3 {
            ends.is_full = false;
            ends.encode(&[(2, 1, 5), (3, 1, 5)]);
            ends.settle();
        }
        if offered.min(table_bytes) >= 200 {
            prop_assert!(ends.references > 0, "the table is used");
        }
    }
}
