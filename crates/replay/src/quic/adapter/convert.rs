//! Converts noq's identifiers and errors to those of h3.

use super::reorder::ReorderError;
use h3::quic::{ConnectionErrorIncoming, StreamErrorIncoming, StreamId};
use noq::{ConnectionError, ReadError, VarInt, WriteError};
use std::sync::Arc;

/// Converts an error code; HTTP/3's are far below 2^62, and a larger one would be a bug in h3.
pub(super) fn error_code(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}

pub(super) fn stream_id(id: noq::StreamId) -> StreamId {
    // Both count to 2^62 - 1 (RFC 9000, section 2.1), so every one fits the other.
    StreamId::try_from(u64::from(VarInt::from(id))).expect("a stream id below 2^62")
}

pub(super) fn connection_error(error: ConnectionError) -> ConnectionErrorIncoming {
    match error {
        ConnectionError::ApplicationClosed(close) => ConnectionErrorIncoming::ApplicationClose {
            error_code: close.error_code.into_inner(),
        },
        ConnectionError::TimedOut => ConnectionErrorIncoming::Timeout,
        other => ConnectionErrorIncoming::Undefined(Arc::new(other)),
    }
}

pub(super) fn stream_lost(error: ConnectionError) -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming {
        connection_error: connection_error(error),
    }
}

pub(super) fn write_error(error: WriteError) -> StreamErrorIncoming {
    match error {
        WriteError::Stopped(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        WriteError::ConnectionLost(error) => stream_lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(other)),
    }
}

pub(super) fn read_error(error: ReadError) -> StreamErrorIncoming {
    match error {
        ReadError::Reset(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        ReadError::ConnectionLost(error) => stream_lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(other)),
    }
}

pub(super) fn reorder_error(error: ReorderError) -> StreamErrorIncoming {
    match error {
        ReorderError::Read(error) => read_error(error),
        error @ ReorderError::TooMuchWaits => StreamErrorIncoming::Unknown(Box::new(error)),
    }
}
