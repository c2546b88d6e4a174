//! Sends a connection's one request, and reads the response.

use super::connection::Driver;
use super::{CONTROL_STREAM, request_stream};
use crate::{Failure, FailureClass};
use bytes::Bytes;
use noq_proto::{Dir, ReadError, ReadableError};

impl Driver<'_> {
    pub(super) fn send_request(&mut self) -> Result<(), Failure> {
        let Some(request) = self.attempt.request else {
            return Ok(());
        };
        let none = || Failure::new(FailureClass::HttpProtocol, "the server allows no streams");
        let control = self.connection.streams().open(Dir::Uni).ok_or_else(none)?;
        let stream_id = self.connection.streams().open(Dir::Bi).ok_or_else(none)?;
        let failed =
            |error: &dyn ToString| Failure::new(FailureClass::HttpProtocol, error.to_string());
        let written = self.connection.send_stream(control).write(&CONTROL_STREAM);
        written.map_err(|error| failed(&error))?;
        let bytes = request_stream(request);
        let mut stream = self.connection.send_stream(stream_id);
        // Ours are a few hundred bytes: any server's first window accepts them whole.
        stream.write(&bytes).map_err(|error| failed(&error))?;
        stream.finish().map_err(|error| failed(&error))?;
        self.request = Some(stream_id);
        Ok(())
    }

    pub(super) fn read_response(&mut self) -> Result<(), Failure> {
        let (Some(request), None) = (self.request, &self.outcome.head) else {
            return Ok(());
        };
        let mut stream = self.connection.recv_stream(request);
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return Ok(()),
            #[allow(unreachable_patterns)]
            Err(_) => return Ok(()),
        };
        let protocol = |reason| Failure::new(FailureClass::HttpProtocol, reason);
        let read = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => match self.response.take(chunk.bytes) {
                    Ok(None) => {}
                    Ok(Some(head)) => break Ok(Some(head)),
                    Err(reason) => break Err(protocol(reason)),
                },
                Ok(None) => break Err(protocol("the response ended before its head")),
                Err(ReadError::Blocked) => break Ok(None),
                Err(error) => break Err(Failure::new(FailureClass::Closed, error)),
            }
        };
        let _ = chunks.finalize();
        if let Some(head) = read? {
            self.outcome.head = Some(head);
            self.outcome.first_byte_ns = self.last.map(|(received, _)| received.at_ns);
            if self.attempt.keeps_answer {
                self.outcome.answer = Some(self.response.take_answer());
            }
        }
        Ok(())
    }

    /// Reads further into the response if it is kept; whatever ends a body ends it here.
    pub(super) fn read_body(&mut self) {
        let (Some(request), Some(answer), false) =
            (self.request, &mut self.outcome.answer, self.is_body_over)
        else {
            return;
        };
        let mut stream = self.connection.recv_stream(request);
        let Ok(mut chunks) = stream.read(true) else {
            self.is_body_over = true;
            return;
        };
        let mut bytes = Bytes::new();
        self.is_body_over = loop {
            match self.response.take_body(std::mem::take(&mut bytes), answer) {
                Ok(true) => {}
                Ok(false) | Err(_) => break true,
            }
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => bytes = chunk.bytes,
                Ok(None) => {
                    answer.body_whole = true;
                    break true;
                }
                Err(ReadError::Blocked) => break false,
                Err(_) => break true,
            }
        };
        let _ = chunks.finalize();
    }
}
