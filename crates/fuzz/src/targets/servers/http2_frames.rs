use eyelevel_replay::wire::{H2Event, H2Frames, client_preface, settings_frame};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Parses the frames of either side, and the first ones, which are modified on their way. What is
/// parsed and passed on does not depend on how the bytes are split, and modified frames keep their
/// form.
pub(crate) fn run(input: &[u8]) {
    let from_client = [PREFACE, input].concat();
    let whole = from_client.len();
    for (is_client, bytes) in [(true, &from_client[..]), (false, input)] {
        let found = parse_frames(is_client, bytes, whole);
        assert_eq!(parse_frames(is_client, bytes, 1), found);
        // A frame has at least nine bytes.
        assert!(found.len() <= bytes.len() / 9 + 1);
        for each in found {
            let H2Event::Update(stream, priority) = each else {
                continue;
            };
            assert!(stream < 1 << 31 && priority.urgency <= 7);
        }
    }
    for table_bytes in [0, 512, 4096] {
        let (given, told) = client_preface(table_bytes, from_client.chunks(whole));
        assert_eq!(
            client_preface(table_bytes, from_client.chunks(1)),
            (given.clone(), told)
        );
        assert!(told.is_none_or(|told| told <= table_bytes));
        // At most one setting is added; nothing is passed on before the first frame is complete.
        assert!(given.is_empty() || (whole..=whole + 6).contains(&given.len()));
        assert!(given.is_empty() || given.starts_with(PREFACE));
    }
    if let Some((frame, stands_for)) = settings_frame(input) {
        assert!(stands_for <= input.len() && frame.len() == stands_for + 6);
        assert!(frame.starts_with(&[0]) || stands_for > 1 << 16);
    }
}

fn parse_frames(is_client: bool, bytes: &[u8], piece_bytes: usize) -> Vec<H2Event> {
    let mut frames = match is_client {
        true => H2Frames::client(),
        false => H2Frames::server(),
    };
    let mut seen = Vec::new();
    for piece in bytes.chunks(piece_bytes.max(1)) {
        frames.feed(piece, |each| seen.push(each));
    }
    seen
}
