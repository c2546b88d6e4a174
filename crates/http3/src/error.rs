use std::fmt;

macro_rules! codes {
    ($($(#[$text:meta])* $name:ident = $value:literal, $said:literal;)*) => {
        /// A code with which a stream is reset or a connection closed (RFC 9114, section 8.1; RFC
        /// 9204, section 6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$text])* $name,)*
        }

        impl Code {
            /// Returns the number on the wire.
            pub const fn value(self) -> u64 {
                match self {
                    $(Self::$name => $value,)*
                }
            }
        }

        impl fmt::Display for Code {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self {
                    $(Self::$name => $said,)*
                })
            }
        }
    };
}

codes! {
    /// No error.
    NoError = 0x0100, "H3_NO_ERROR";
    /// An internal error of this end.
    InternalError = 0x0102, "H3_INTERNAL_ERROR";
    /// A stream of a type that may not be opened.
    StreamCreationError = 0x0103, "H3_STREAM_CREATION_ERROR";
    /// The control stream or a QPACK stream ended.
    ClosedCriticalStream = 0x0104, "H3_CLOSED_CRITICAL_STREAM";
    /// A frame that is not allowed there.
    FrameUnexpected = 0x0105, "H3_FRAME_UNEXPECTED";
    /// A frame whose layout does not match its type.
    FrameError = 0x0106, "H3_FRAME_ERROR";
    /// Excessive load by the peer.
    ExcessiveLoad = 0x0107, "H3_EXCESSIVE_LOAD";
    /// An identifier that is not allowed, or no longer.
    IdError = 0x0108, "H3_ID_ERROR";
    /// An invalid or repeated setting.
    SettingsError = 0x0109, "H3_SETTINGS_ERROR";
    /// The control stream began without SETTINGS.
    MissingSettings = 0x010a, "H3_MISSING_SETTINGS";
    /// A request that was cancelled.
    RequestCancelled = 0x010c, "H3_REQUEST_CANCELLED";
    /// A request's stream ended before the request.
    RequestIncomplete = 0x010d, "H3_REQUEST_INCOMPLETE";
    /// A message that violates section 4.1.2.
    MessageError = 0x010e, "H3_MESSAGE_ERROR";
    /// A field section that cannot be decoded.
    DecompressionFailed = 0x0200, "QPACK_DECOMPRESSION_FAILED";
    /// An invalid instruction on the encoder's stream.
    EncoderStreamError = 0x0201, "QPACK_ENCODER_STREAM_ERROR";
    /// An invalid instruction on the decoder's stream.
    DecoderStreamError = 0x0202, "QPACK_DECODER_STREAM_ERROR";
}

/// The extent of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One request.
    Stream,
    /// The connection.
    Connection,
}

/// A protocol violation of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct Error {
    /// Its extent.
    pub scope: Scope,
    /// The code sent to the peer.
    pub code: Code,
    /// A description.
    pub reason: &'static str,
}

impl Error {
    pub(crate) const fn connection(code: Code, reason: &'static str) -> Self {
        Self {
            scope: Scope::Connection,
            code,
            reason,
        }
    }

    pub(crate) const fn stream(code: Code, reason: &'static str) -> Self {
        Self {
            scope: Scope::Stream,
            code,
            reason,
        }
    }
}
