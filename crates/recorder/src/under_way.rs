//! Counts responses that have started and not ended; a recording waits a little for them at its
//! end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// The number of responses in progress.
#[derive(Debug, Clone, Default)]
pub struct UnderWay(Arc<watch::Sender<usize>>);

/// A guard for one response, from its head to its end in the store.
#[derive(Debug)]
pub struct Answering(UnderWay);

impl UnderWay {
    /// Counts a response whose head has arrived.
    pub fn begin(&self) -> Answering {
        self.0.send_modify(|answers| *answers += 1);
        Answering(self.clone())
    }

    /// Waits until all have ended, but at most `within`.
    pub async fn wait_ended(&self, within: Duration) {
        let mut answers = self.0.subscribe();
        // Neither a timeout nor a dropped sender leaves anything to wait for.
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
    async fn waiting_is_bounded() {
        let answers = UnderWay::default();
        answers.wait_ended(Duration::MAX).await;
        let first = answers.begin();
        drop(answers.begin());
        answers.wait_ended(Duration::ZERO).await;
        assert_eq!(*answers.0.borrow(), 1);
        drop(first);
        answers.wait_ended(Duration::MAX).await;
    }
}
