//! Parses the text form of stages: `delay 20ms, rate 10.5 Mbit/s, queue droptail 200ms, loss 1%`.
//!
//! Clauses are separated by commas, in the order in which a packet passes them. A clause is a
//! stage's name (`-` may replace `_`) and its values; a unit may follow its number after a space.
//! `queue` is not a stage: it belongs to the rate, schedule, trace or cell in the clause right
//! before it, or else right after it.

use crate::words::Words;
use crate::{QueueSpec, SpecError, StageSpec};

/// The words after `queue`, as documented (`docs/reference/stages.md`).
pub const QUEUE_FOLLOWS: &str = "`infinite`; `droptail` or `drophead` with limits (TIME, SIZE, COUNT \
    `packets`); `codel`, `fq_codel`, `pie`, `red`, `dualpi2` with their settings";

impl StageSpec {
    /// Reads stages in the text form. Files that they name are not read: see
    /// [`StageSpec::load_files`]. The text `none` is a path without stages.
    ///
    /// # Errors
    /// When a clause is wrong; the message quotes it and the remedy.
    ///
    /// ```
    /// use eyelevel_link::{DelaySpec, LossSpec, QueueSpec, RateSpec, StageSpec};
    ///
    /// let text = "delay 20ms, rate 10.5 Mbit/s, queue droptail 200ms, loss 1%";
    /// let queue = QueueSpec::droptail_ms(200.0);
    /// assert_eq!(
    ///     StageSpec::parse_text(text).unwrap(),
    ///     [
    ///         StageSpec::Delay(DelaySpec { delay_ms: 20.0 }),
    ///         StageSpec::Rate(RateSpec { rate_bit_s: 10_500_000, queue }),
    ///         StageSpec::Loss(LossSpec { probability: 0.01 }),
    ///     ]
    /// );
    /// ```
    pub fn parse_text(text: &str) -> Result<Vec<Self>, SpecError> {
        if text.trim() == "none" {
            return Ok(Vec::new());
        }
        let mut stages: Vec<Self> = Vec::new();
        // A queue whose link follows, and whether the last clause can take one.
        let mut pending: Option<(Words<'_>, QueueSpec)> = None;
        let mut takes_queue = false;
        for (index, clause) in text.split(',').enumerate() {
            let mut words = Words::new(clause, index);
            let name = words
                .word("a stage's name, such as \"delay\"")?
                .replace('-', "_");
            if name == "queue" {
                let queue = QueueSpec::parse(&mut words)?;
                words.end()?;
                match stages
                    .last_mut()
                    .and_then(Self::queue_mut)
                    .filter(|_| takes_queue)
                {
                    Some(place) => *place = queue,
                    None => replace_pending(&mut pending, words, queue)?,
                }
                takes_queue = false;
                continue;
            }
            let mut stage = Self::parse(&name, &mut words)
                .unwrap_or_else(|| Err(unknown_stage_error(&words, &name)))?;
            words.end()?;
            takes_queue = stage.queue_mut().is_some();
            if let Some((queue_words, queue)) = pending.take() {
                let place = stage
                    .queue_mut()
                    .ok_or_else(|| stray_word_error(&queue_words))?;
                *place = queue;
                takes_queue = false;
            }
            stages.push(stage);
        }
        pending.map_or(Ok(stages), |(words, _)| Err(stray_word_error(&words)))
    }
}

fn replace_pending<'a>(
    pending: &mut Option<(Words<'a>, QueueSpec)>,
    words: Words<'a>,
    queue: QueueSpec,
) -> Result<(), SpecError> {
    match pending.replace((words, queue)) {
        Some((before, _)) => Err(stray_word_error(&before)),
        None => Ok(()),
    }
}

fn unknown_stage_error(words: &Words<'_>, name: &str) -> SpecError {
    let known: Vec<_> = StageSpec::KINDS.iter().map(|kind| kind.name).collect();
    words.error(
        &format!("unknown stage {name:?}"),
        &format!("use {}, queue or none", known.join(", ")),
    )
}

fn stray_word_error(words: &Words<'_>) -> SpecError {
    words.error(
        "the queue stands beside no link",
        "write it right after (or right before) its own rate, schedule or trace",
    )
}
