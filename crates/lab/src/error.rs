/// An error of building a lab or running a command: attempt, subject, remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is invalid.
    #[error("{0}")]
    Config(String),
    /// The path's shell cannot be run.
    #[error("{0}")]
    Shell(String),
    /// The recorded site cannot be opened.
    #[error(transparent)]
    Archive(#[from] eyelevel_archive::Error),
    /// A recorded site cannot be edited.
    #[error(transparent)]
    Edit(#[from] eyelevel_edit::Error),
    /// The servers cannot be created.
    #[error(transparent)]
    Replay(#[from] eyelevel_replay::ReplayError),
    /// A recording cannot be made.
    #[error(transparent)]
    Record(#[from] eyelevel_recorder::RecordError),
    /// Connections cannot be timed.
    #[error(transparent)]
    Probe(#[from] eyelevel_probe::ProbeError),
    /// The emulated path cannot be created.
    #[error(transparent)]
    Path(#[from] eyelevel_path::PathError),
    /// A system call failed.
    #[error(transparent)]
    System(#[from] eyelevel_netns::Error),
    /// A thread of the lab failed.
    #[error("the lab's {part} ended early: {reason}; run it again, and see `eyelevel doctor`")]
    Thread {
        /// The thread's task.
        part: &'static str,
        /// The cause.
        reason: String,
    },
}
