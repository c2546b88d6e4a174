use crate::targets::check_message;
use eyelevel_probe::Asked;
use eyelevel_probe::wire::{request_stream, response_status};

/// The beginning of a response stream: its status is one that HTTP has and is told as soon as its
/// bytes are there, not before; the input as a request's path makes one frame, which is no response.
pub(crate) fn run(input: &[u8]) {
    match response_status(input) {
        Ok(Some(status)) => {
            assert!((200..=999).contains(&status), "{status}");
            let longer = [input, &[0; 9]].concat();
            assert_eq!(response_status(&longer), Ok(Some(status)));
        }
        Ok(None) => assert!(input.len() <= 128 << 10),
        Err(reason) => check_message(&reason),
    }
    for end in 0..input.len().min(64) {
        // What is known of a beginning stays true of the whole.
        if let Ok(Some(status)) = response_status(&input[..end]) {
            assert_eq!(response_status(input), Ok(Some(status)));
        }
    }
    let asked = Asked {
        authority: "a.test".into(),
        path: String::from_utf8_lossy(input).into_owned(),
        user_agent: "x".into(),
    };
    let stream = request_stream(&asked);
    assert!(response_status(&stream).is_err(), "a request has no status");
}
