//! Output of LiteSpeed's QPACK (`vectors/qpack/compute.py`) is decoded correctly.

use eyelevel_http3::qpack::{Decoded, Decoder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn bytes(hex: &str) -> Vec<u8> {
    let digits = (0..hex.len()).step_by(2).map(|at| &hex[at..at + 2]);
    digits
        .map(|pair| u8::from_str_radix(pair, 16).unwrap())
        .collect()
}

/// Sections that arrived before their inserts, with their fields.
type Waiting = BTreeMap<u64, (Vec<u8>, Value)>;

fn read(decoder: &mut Decoder, stream: u64, section: &[u8], expected: &Value) -> bool {
    match decoder.decode(stream, section, 1 << 16).unwrap() {
        Decoded::Blocked => false,
        Decoded::TooLarge => panic!("nothing is that large"),
        Decoded::Fields(fields) => {
            let text = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
            let fields: Vec<[String; 2]> = (fields.iter())
                .map(|field| [text(&field.name), text(&field.value)])
                .collect();
            assert_eq!(&serde_json::to_value(fields).unwrap(), expected, "{stream}");
            true
        }
    }
}

#[test]
fn sections_of_another_encoder_are_read() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/qpack/ls_qpack.json");
    let session: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let number = |key: &str| session[key].as_u64().unwrap();
    let mut decoder = Decoder::new(number("table_bytes"), number("blocked_streams_max"));
    let (mut waiting, mut ever_waited, mut referring) = (Waiting::new(), 0, 0);
    for step in session["steps"].as_array().unwrap() {
        if let Some(hex) = step["encoder"].as_str() {
            decoder.on_encoder_stream(&bytes(hex)).unwrap();
            waiting
                .retain(|stream, (section, fields)| !read(&mut decoder, *stream, section, fields));
            continue;
        }
        let stream = step["stream"].as_u64().unwrap();
        let section = bytes(step["section"].as_str().unwrap());
        referring += usize::from(section[0] > 0);
        if !read(&mut decoder, stream, &section, &step["fields"]) {
            ever_waited += 1;
            waiting.insert(stream, (section, step["fields"].clone()));
        }
    }
    assert!(waiting.is_empty());
    // Else the file proves little.
    assert!(
        ever_waited > 3 && referring > 30,
        "{ever_waited}, {referring}"
    );
}
