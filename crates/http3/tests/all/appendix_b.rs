//! The examples of RFC 9204, appendix B, read byte by byte and whole.

use eyelevel_http3::qpack::{Decoded, Decoder};

/// The encoder's stream, and sections with their streams and fields, in order.
enum Step {
    Encoder(&'static str),
    Section(u64, &'static str, &'static [(&'static str, &'static str)]),
    Blocked(u64, &'static str),
    /// The expected instructions of our decoder.
    Told(&'static str),
    Cancel(u64),
}

const STEPS: [Step; 15] = [
    // B.1: a literal with a static name.
    Step::Section(
        0,
        "0000 510b 2f69 6e64 6578 2e68 746d 6c",
        &[(":path", "/index.html")],
    ),
    // B.2: the section arrives before its inserts.
    Step::Blocked(4, "0381 1011"),
    Step::Encoder(
        "3fbd01 c00f 7777 772e 6578 616d 706c 652e 636f 6d c10c 2f73 616d 706c 652f 7061 7468",
    ),
    Step::Section(
        4,
        "0381 1011",
        &[(":authority", "www.example.com"), (":path", "/sample/path")],
    ),
    Step::Told("84"),
    // B.3: an insert by itself.
    Step::Encoder("4a63 7573 746f 6d2d 6b65 790c 6375 7374 6f6d 2d76 616c 7565"),
    Step::Told("01"),
    // B.4: a copy; the section of stream 8 is not read.
    Step::Encoder("02"),
    Step::Cancel(8),
    Step::Told("4801"),
    Step::Section(
        12,
        "0500 80c1 81",
        &[
            (":authority", "www.example.com"),
            (":path", "/"),
            ("custom-key", "custom-value"),
        ],
    ),
    Step::Told("8c"),
    // B.5: an insert with the name of an entry, which evicts the oldest.
    Step::Encoder("810d 6375 7374 6f6d 2d76 616c 7565 32"),
    Step::Told("01"),
    Step::Section(16, "0600 80", &[("custom-key", "custom-value2")]),
];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| *byte != b' ').collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn run(piece_bytes: usize) {
    let mut decoder = Decoder::new(220, 1);
    for step in &STEPS {
        match step {
            Step::Encoder(hex) => {
                for piece in bytes(hex).chunks(piece_bytes) {
                    decoder.on_encoder_stream(piece).unwrap();
                }
            }
            Step::Section(stream, hex, expected) => {
                let decoded = decoder.decode(*stream, &bytes(hex), 1000).unwrap();
                let Decoded::Fields(fields) = decoded else {
                    panic!("{hex}: {decoded:?}");
                };
                let text = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
                let fields: Vec<(String, String)> = (fields.iter())
                    .map(|field| (text(&field.name), text(&field.value)))
                    .collect();
                let expected = expected.iter().map(|(n, v)| ((*n).into(), (*v).into()));
                assert_eq!(fields, expected.collect::<Vec<_>>());
            }
            Step::Blocked(stream, hex) => {
                let decoded = decoder.decode(*stream, &bytes(hex), 1000).unwrap();
                assert_eq!(decoded, Decoded::Blocked);
            }
            Step::Told(hex) => assert_eq!(decoder.take_instructions(), bytes(hex), "{hex}"),
            Step::Cancel(stream) => decoder.cancel(*stream),
        }
    }
}

#[test]
fn the_examples_are_read() {
    for piece_bytes in [1, 2, 3, 1000] {
        run(piece_bytes);
    }
}
