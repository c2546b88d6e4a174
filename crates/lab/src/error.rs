/// Why a lab could not be built or a command could not be run: attempt, subject, way out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration makes no sense.
    #[error("{0}")]
    Config(String),
    /// The path's shell cannot do what it is asked.
    #[error("{0}")]
    Shell(String),
    /// The recorded site cannot be opened.
    #[error(transparent)]
    Archive(#[from] eyelevel_archive::Error),
    /// A recorded site cannot be edited.
    #[error(transparent)]
    Edit(#[from] eyelevel_edit::Error),
    /// The servers cannot be made.
    #[error(transparent)]
    Replay(#[from] eyelevel_replay::ReplayError),
    /// A recording cannot be made.
    #[error(transparent)]
    Record(#[from] eyelevel_recorder::RecordError),
    /// Connections cannot be timed.
    #[error(transparent)]
    Probe(#[from] eyelevel_probe::ProbeError),
    /// The emulated path cannot be made.
    #[error(transparent)]
    Path(#[from] eyelevel_path::PathError),
    /// The kernel refused something.
    #[error(transparent)]
    System(#[from] eyelevel_netns::Error),
    /// A thread of the lab could not do its part.
    #[error("the lab's {part} ended early: {reason}; run it again, and see `eyelevel doctor`")]
    Thread {
        /// Which part.
        part: &'static str,
        /// What is known.
        reason: String,
    },
}
