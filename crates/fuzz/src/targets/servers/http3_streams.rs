use crate::targets::check_message;
use bytes::Bytes;
use eyelevel_http3::{Control, ControlEvent, Error, Message, MessageEvent, Side, Unidirectional};

/// The longest section that is stored.
const SECTION_BYTES_MAX: u64 = 64;

/// Parses the input as a client's control stream, as a request's and as a stream of unknown type.
/// The result does not depend on how the bytes are split, and events hold no more than the input.
pub(crate) fn run(input: &[u8]) {
    for side in [Side::Client, Side::Server] {
        let whole = parse_control(side, input, input.len().max(1));
        assert_eq!(whole, parse_control(side, input, 1));
        let (bodies, events, error) = parse_message(side, input, input.len().max(1));
        assert_eq!((bodies, events, error), parse_message(side, input, 1));
    }
    let kind = |piece_bytes: usize| {
        let (mut streams, mut head) = (Unidirectional::new(Side::Client), Vec::new());
        let found = input.chunks(piece_bytes).find_map(|piece| {
            let mut piece = Bytes::copy_from_slice(piece);
            streams.kind(&mut head, &mut piece).transpose()
        });
        assert!(head.len() <= 8);
        found
    };
    assert_eq!(kind(1), kind(input.len().max(1)));
}

fn parse_control(
    side: Side,
    input: &[u8],
    piece_bytes: usize,
) -> (Vec<ControlEvent>, Option<Error>) {
    let (mut control, mut events) = (Control::new(side), Vec::new());
    for piece in input.chunks(piece_bytes) {
        let mut piece = Bytes::copy_from_slice(piece);
        loop {
            match control.next(&mut piece) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => {
                    check_message(&error);
                    return (events, Some(error));
                }
            }
        }
    }
    (events, None)
}

/// The body's bytes, the other events, and the error that ended the stream.
type MessageResult = (Vec<u8>, Vec<MessageEvent>, Option<Error>);

fn parse_message(side: Side, input: &[u8], piece_bytes: usize) -> MessageResult {
    let mut message = Message::new(side, SECTION_BYTES_MAX);
    let (mut body, mut events) = (Vec::new(), Vec::new());
    for piece in input.chunks(piece_bytes) {
        let mut piece = Bytes::copy_from_slice(piece);
        loop {
            match message.next(&mut piece) {
                Ok(Some(MessageEvent::Data(data))) => body.extend_from_slice(&data),
                Ok(Some(event)) => {
                    if let MessageEvent::Head(section) | MessageEvent::Trailers(section) = &event {
                        assert!(section.len() as u64 <= SECTION_BYTES_MAX);
                    }
                    events.push(event);
                }
                Ok(None) => break,
                Err(error) => return (body, events, Some(error)),
            }
        }
    }
    assert!(body.len() <= input.len());
    (body, events, message.on_end().err())
}
