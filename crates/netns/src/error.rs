use std::io;

/// Of a call that a kernel with namespaces does for those who may.
const OTHERWISE: &str = "run `eyelevel doctor` to see what this machine lacks";

/// A system call that did not do what the lab needs: the attempt, the kernel's answer, the way out.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt}: {source}; {}", .remedy.unwrap_or(OTHERWISE))]
pub struct Error {
    /// What was attempted, with its subject: "create a TUN device lab0".
    pub attempt: String,
    /// What the kernel said.
    pub source: io::Error,
    /// What the user can do, where something else than `eyelevel doctor` says it.
    pub remedy: Option<&'static str>,
}

impl Error {
    /// The last system call's error, for `attempt`.
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

    /// As `eyelevel doctor` says it, which has nobody to send to itself.
    pub(crate) fn of_doctor(&self) -> String {
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

/// Turns the return value of a system call into a result.
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
