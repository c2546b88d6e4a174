use super::effect::Effect;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::recorded::ReadFile;
use crate::words::Words;
use crate::{QueueSpec, SpecError};
use eyelevel_units::{Instant, Seed};

/// A stage as configurations have it.
pub(crate) trait StageSettings: Sized {
    /// Whether it is a link: sends one packet after the other, the others wait in its queue.
    const IS_LINK: bool = false;

    /// Reads what follows the stage's name in the text form.
    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError>;

    /// What the stage does to every packet; its files have been read.
    fn effect(&self) -> Result<Effect<'_>, SpecError>;

    /// The queue, of a stage that is a link.
    fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
        None
    }

    /// Reads the files that the stage names.
    fn load_files(&mut self, _read: &mut ReadFile<'_>) -> Result<(), SpecError> {
        Ok(())
    }
}

/// A stage at work.
pub(crate) trait StageState<P>: Sized {
    type Settings: StageSettings;

    /// Builds the stage; `place` ("stage 2 (rate)") begins every error.
    fn new(settings: &Self::Settings, seed: Seed, place: &str) -> Result<Self, SpecError>;

    /// The path begins: what happens by the clock counts from here.
    fn start(&mut self, _origin: Instant) {}

    /// A packet enters at `at`; every event of this stage up to `at` has been handled. Returns it
    /// if it leaves at the same instant.
    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>>;

    /// The next event; [`Instant::MAX`] if the stage keeps no packet.
    #[inline]
    fn deadline(&self) -> Instant {
        Instant::MAX
    }

    /// Handles the event due at `at`, which is the deadline. Returns a packet that leaves; another
    /// one that leaves at the same instant leaves the deadline where it is.
    #[inline]
    fn handle_timeout<O: Observer<P>>(
        &mut self,
        _at: Instant,
        _reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        None
    }
}

/// Large states are kept behind a pointer, so that small ones stay close together.
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
