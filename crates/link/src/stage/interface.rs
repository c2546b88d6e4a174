use super::effect::Effect;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::ReadFile;
use crate::words::Words;
use crate::{QueueSpec, SpecError};
use eyelevel_units::{Instant, Seed};

/// The settings of a stage in configurations.
pub(crate) trait StageSettings: Sized {
    /// Whether it is a link: sends one packet after the other, and queues the others.
    const IS_LINK: bool = false;

    /// Parses the words after the stage's name in the text form.
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError>;

    /// Returns the stage's effect on every packet; its files have been read.
    fn effect(&self) -> Result<Effect<'_>, SpecError>;

    /// Returns the queue, if the stage is a link.
    fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
        None
    }

    /// Reads the files that the stage names.
    fn load_files(&mut self, _read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        Ok(())
    }
}

/// The state of a stage.
pub(crate) trait StageState<P>: Sized {
    type Settings: StageSettings;

    /// Builds the stage; `place` ("stage 2 (rate)") begins every error.
    fn new(settings: &Self::Settings, seed: Seed, place: &str) -> Result<Self, SpecError>;

    /// Sets the path's start, from which events at fixed times count.
    fn start(&mut self, _origin: Instant) {}

    /// Handles a packet that enters at `at`, after every event of this stage up to `at`. Returns it
    /// if it leaves at the same instant.
    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>>;

    /// Returns the next event; [`Instant::MAX`] if the stage holds no packet.
    #[inline]
    fn deadline(&self) -> Instant {
        Instant::MAX
    }

    /// Handles the event due at `at`, which is the deadline. Returns a packet that leaves; if
    /// another one leaves at the same instant, the deadline is unchanged.
    #[inline]
    fn handle_timeout<O: Observer<P>>(
        &mut self,
        _at: Instant,
        _reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        None
    }
}

/// Boxes large states, so that small ones stay close together.
impl<P, S: StageState<P>> StageState<P> for Box<S> {
    type Settings = S::Settings;

    fn new(settings: &Self::Settings, seed: Seed, place: &str) -> Result<Self, SpecError> {
        S::new(settings, seed, place).map(Self::new)
    }

    fn start(&mut self, origin: Instant) {
        (**self).start(origin);
    }

    #[inline]
    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        (**self).handle_packet(at, queued_packet, reports)
    }

    #[inline]
    fn deadline(&self) -> Instant {
        (**self).deadline()
    }

    #[inline]
    fn handle_timeout<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        (**self).handle_timeout(at, reports)
    }
}
