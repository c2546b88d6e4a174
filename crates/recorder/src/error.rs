use std::io;
use std::path::PathBuf;

/// Why a recording could not be made. One line: attempt, subject, way out.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The proxy could not be set up.
    #[error("cannot {attempt}: {reason}; {remedy}")]
    Setup {
        /// What was attempted.
        attempt: String,
        /// The message of the system or a library.
        reason: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A server could not be reached or did not answer.
    #[error("{attempt} {subject} failed: {reason}")]
    Upstream {
        /// What was attempted.
        attempt: &'static str,
        /// The server, or the URL.
        subject: String,
        /// The message of the system or a library.
        reason: String,
    },
    /// A server that a page may not reach.
    #[error("refused: {reason}")]
    Refused {
        /// The server and what is wrong with its address, or with the request.
        reason: String,
    },
    /// What is kept could not be written or read back.
    #[error("cannot {attempt} {}: {source}; make room on its disk", path.display())]
    Spool {
        /// What was attempted, a verb.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The recording cannot be a site.
    #[error(
        "nothing to write: {reason}; see whether a browser loads the page, then record it again"
    )]
    Nothing {
        /// Why, and what would help.
        reason: String,
    },
    /// The site could not be written.
    #[error(transparent)]
    Archive(#[from] eyelevel_archive::Error),
    /// No certificates could be made.
    #[error(transparent)]
    Certificate(#[from] eyelevel_replay::ReplayError),
}

impl RecordError {
    pub(crate) fn upstream(
        attempt: &'static str,
        subject: impl Into<String>,
        reason: impl ToString,
    ) -> Self {
        Self::Upstream {
            attempt,
            subject: subject.into(),
            reason: reason.to_string(),
        }
    }
}
