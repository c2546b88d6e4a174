use eyelevel_units::refusal;

/// An error that prevents all attempts; one within an attempt is a row's [`crate::Failure`].
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// No roots to verify certificates.
    #[error("no trusted certificates in {store}: {reason}; name a PEM file of them")]
    Trust {
        /// The place where they were sought.
        store: String,
        /// The reason.
        reason: String,
    },
    /// A configuration that the libraries refuse.
    #[error("cannot configure the probe: {0}; update eyelevel")]
    Configuration(String),
    /// An error of one of the prober's sockets or files.
    #[error("cannot {attempt} {subject}: {}", refusal(reason))]
    System {
        /// The operation that failed.
        attempt: &'static str,
        /// Its object.
        subject: String,
        /// The system's error.
        reason: std::io::Error,
    },
}

impl ProbeError {
    /// Returns a function for `map_err`, for an attempt on a subject.
    pub fn system(
        attempt: &'static str,
        subject: impl ToString,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let subject = subject.to_string();
        move |reason| Self::System {
            attempt,
            subject,
            reason,
        }
    }
}
