use std::io;

/// The default remedy, for calls that a kernel with namespaces allows to privileged users.
const OTHERWISE: &str = "run `eyelevel doctor` to see what this machine lacks";

/// A failed system call: the attempt, the kernel's error, the remedy.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt}: {source}; {}", .remedy.unwrap_or(OTHERWISE))]
pub struct Error {
    /// What was attempted, with its subject: "create a TUN device lab0".
    pub attempt: String,
    /// The kernel's error.
    pub source: io::Error,
    /// The remedy, if it is another than `eyelevel doctor`.
    pub remedy: Option<&'static str>,
}

impl Error {
    /// Creates an error for `attempt` from the last system call's error.
    pub(crate) fn last(attempt: impl Into<String>) -> Self {
        Self::new(attempt, io::Error::last_os_error())
    }

    pub(crate) fn new(attempt: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self {
            attempt: attempt.into(),
            source: source.into(),
            remedy: None,
        }
    }

    /// Formats the error for `eyelevel doctor`, without the remedy to run it.
    pub(crate) fn to_doctor_message(&self) -> String {
        match self.remedy {
            Some(_) => self.to_string(),
            None => format!("cannot {}: {}", self.attempt, self.source),
        }
    }

    pub(crate) fn remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

/// Converts the return value of a system call to a result.
pub(crate) fn check(
    value: libc::c_int,
    attempt: impl FnOnce() -> String,
) -> Result<libc::c_int, Error> {
    if value < 0 {
        Err(Error::last(attempt()))
    } else {
        Ok(value)
    }
}
