use crate::targets::check_message;
use bytes::Bytes;
use eyelevel_probe::wire::{Head, Response, request_stream};
use eyelevel_probe::{Answer, ProbeRequest};

/// Parses a response's head: its status is valid, and stored fields are short and printable. Split
/// in two pieces, the result is the same, and the stored answer is bounded. The input as a
/// request's path makes one frame, which is not a response.
pub(crate) fn run(input: &[u8]) {
    let whole = read(&[input]);
    match &whole {
        Ok(Some(head)) => {
            assert!((200..=999).contains(&head.status), "{}", head.status);
            for text in head.server.iter().chain(&head.alt_svc) {
                assert!(text.len() <= 500 && !text.contains(|c: char| c.is_control() && c != '\t'));
            }
            assert_eq!(read(&[&[input, &[0; 9]].concat()]), whole);
        }
        Ok(None) => assert!(input.len() <= 128 << 10),
        Err(reason) => check_message(reason),
    }
    for end in 0..input.len().min(64) {
        let (first, rest) = input.split_at(end);
        assert_eq!(read(&[first, rest]), whole, "cut at {end}");
        assert_eq!(
            read_answer(&[first, rest]),
            read_answer(&[input]),
            "cut at {end}"
        );
    }
    let request = ProbeRequest {
        authority: "a.test".into(),
        path: String::from_utf8_lossy(input).into_owned(),
        user_agent: "x".into(),
    };
    let stream = request_stream(&request);
    assert!(read(&[&stream]).is_err(), "a request has no status");
}

/// Returns the stored answer: the head and the body's beginning, up to an invalid frame.
fn read_answer(pieces: &[&[u8]]) -> Option<Answer> {
    let (mut response, mut answer, mut is_over) = (Response::default(), None, false);
    for piece in pieces {
        let mut bytes = Bytes::copy_from_slice(piece);
        if answer.is_none() {
            if response.take(std::mem::take(&mut bytes)).ok()?.is_none() {
                continue;
            }
            answer = Some(response.take_answer());
        }
        let Some(answer) = &mut answer else { continue };
        is_over = is_over || response.take_body(bytes, answer) != Ok(true);
        assert!(answer.body.len() <= 4 << 10);
        let fields = answer.fields.iter();
        assert!(
            fields
                .map(|(name, value)| name.len() + value.len())
                .sum::<usize>()
                <= 24 << 10
        );
    }
    answer
}

/// Reads pieces until there is a head, like the driver.
fn read(pieces: &[&[u8]]) -> Result<Option<Head>, &'static str> {
    let mut response = Response::default();
    for piece in pieces {
        if let Some(head) = response.take(Bytes::copy_from_slice(piece))? {
            return Ok(Some(head));
        }
    }
    Ok(None)
}
