use std::io;
use std::path::PathBuf;

/// An error that prevents a recording. One line: attempt, subject, remedy.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The proxy could not be set up.
    #[error("cannot {attempt}: {reason}; {remedy}")]
    Setup {
        /// What was attempted.
        attempt: String,
        /// The error of the system or a library.
        reason: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A server could not be reached or did not respond.
    #[error("{attempt} {subject} failed: {reason}")]
    Upstream {
        /// What was attempted.
        attempt: &'static str,
        /// The server, or the URL.
        subject: String,
        /// The error of the system or a library.
        reason: String,
    },
    /// The page may not reach a server.
    #[error("refused: {reason}")]
    Refused {
        /// The server and the problem with its address or with the request.
        reason: String,
    },
    /// Recorded bodies could not be written or read back.
    #[error("cannot {attempt} {}: {source}; make room on its disk", path.display())]
    Spool {
        /// What was attempted, as a verb.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The recording holds no site.
    #[error(
        "nothing to write: {reason}; see whether a browser loads the page, then record it again"
    )]
    Nothing {
        /// The reason, and the remedy.
        reason: String,
    },
    /// The site could not be written.
    #[error(transparent)]
    Archive(#[from] eyelevel_archive::Error),
    /// Certificates could not be created.
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
