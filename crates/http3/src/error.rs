use std::fmt;

macro_rules! codes {
    ($($(#[$text:meta])* $name:ident = $value:literal, $said:literal;)*) => {
        /// A code that a stream is reset or a connection closed with (RFC 9114, section 8.1;
        /// RFC 9204, section 6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$text])* $name,)*
        }

        impl Code {
            /// The number on the wire.
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
    /// Nothing is wrong.
    NoError = 0x0100, "H3_NO_ERROR";
    /// Ours alone is to blame.
    InternalError = 0x0102, "H3_INTERNAL_ERROR";
    /// A stream of a type that may not be opened.
    StreamCreationError = 0x0103, "H3_STREAM_CREATION_ERROR";
    /// The control stream or one of QPACK's ended.
    ClosedCriticalStream = 0x0104, "H3_CLOSED_CRITICAL_STREAM";
    /// A frame where it may not be.
    FrameUnexpected = 0x0105, "H3_FRAME_UNEXPECTED";
    /// A frame that is not laid out as its type says.
    FrameError = 0x0106, "H3_FRAME_ERROR";
    /// More than is reasonable.
    ExcessiveLoad = 0x0107, "H3_EXCESSIVE_LOAD";
    /// An identifier that may not be used, or not any more.
    IdError = 0x0108, "H3_ID_ERROR";
    /// A setting that may not be, or twice.
    SettingsError = 0x0109, "H3_SETTINGS_ERROR";
    /// The control stream began without SETTINGS.
    MissingSettings = 0x010a, "H3_MISSING_SETTINGS";
    /// A request that nobody wants any more.
    RequestCancelled = 0x010c, "H3_REQUEST_CANCELLED";
    /// A request's stream ended before the request.
    RequestIncomplete = 0x010d, "H3_REQUEST_INCOMPLETE";
    /// A message against the rules of section 4.1.2.
    MessageError = 0x010e, "H3_MESSAGE_ERROR";
    /// A field section that cannot be read.
    DecompressionFailed = 0x0200, "QPACK_DECOMPRESSION_FAILED";
    /// An instruction on the encoder's stream that cannot be followed.
    EncoderStreamError = 0x0201, "QPACK_ENCODER_STREAM_ERROR";
    /// An instruction on the decoder's stream that cannot be followed.
    DecoderStreamError = 0x0202, "QPACK_DECODER_STREAM_ERROR";
}

/// What an error ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One request.
    Stream,
    /// Everything.
    Connection,
}

/// What the peer did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct Error {
    /// What it ends.
    pub scope: Scope,
    /// What the peer is told.
    pub code: Code,
    /// What was wrong, in words.
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
