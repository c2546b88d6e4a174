use eyelevel_units::refusal;

/// Why no attempt could be made at all; what happens in an attempt is a row's [`crate::Failure`].
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// There is nothing to check certificates against.
    #[error("no trusted certificates in {store}: {reason}; name a PEM file of them")]
    Trust {
        /// Where they were sought.
        store: String,
        /// What is known.
        reason: String,
    },
    /// The libraries refuse a configuration.
    #[error("cannot configure the probe: {0}; update eyelevel")]
    Configuration(String),
    /// A socket or a file of the prober's own.
    #[error("cannot {attempt} {subject}: {}", refusal(reason))]
    System {
        /// What was tried.
        attempt: &'static str,
        /// With what.
        subject: String,
        /// The system's word.
        reason: std::io::Error,
    },
}

impl ProbeError {
    /// For `map_err`: an attempt on a subject.
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
