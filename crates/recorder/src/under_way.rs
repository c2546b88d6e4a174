//! Answers that have begun and not ended: a recording waits a little for them at its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How many answers are under way.
#[derive(Debug, Clone, Default)]
pub struct UnderWay(Arc<watch::Sender<usize>>);

/// One answer, from its head to its end in the store.
#[derive(Debug)]
pub struct Answering(UnderWay);

impl UnderWay {
    /// An answer's head is there.
    pub fn begin(&self) -> Answering {
        self.0.send_modify(|answers| *answers += 1);
        Answering(self.clone())
    }

    /// Until all have ended, or it took longer than `within`.
    pub async fn ended(&self, within: Duration) {
        let mut answers = self.0.subscribe();
        // Neither the bound nor a sender that is gone leaves anything to wait for.
        let _ = timeout(within, answers.wait_for(|&answers| answers == 0)).await;
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.send_modify(|answers| *answers -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_does_not_end_is_waited_for_within_the_bound() {
        let answers = UnderWay::default();
        answers.ended(Duration::MAX).await;
        let first = answers.begin();
        drop(answers.begin());
        answers.ended(Duration::ZERO).await;
        assert_eq!(*answers.0.borrow(), 1);
        drop(first);
        answers.ended(Duration::MAX).await;
    }
}
