//! The core that a lab keeps for itself where real-time priority is refused.

use eyelevel_netns::{
    RealtimePriority, allowed_cores, keep_to_cores, request_realtime, threads_of_core,
};
use std::thread;

/// Holds the calling thread, and all that it starts from then on, to the last core that it may use,
/// and returns the numbers of that core's hardware threads; None where a path gets real-time
/// priority, or there is no second core.
///
/// A browser keeps every core busy that it may use. On two cores and at normal priority packets were
/// released 1 to 5 ms late at the 99th percentile, so that nearly no load counted
/// (docs/decisions/0035-without-priority.md). Whoever starts the browser leaves this core out
/// (`enter --cores`). It is the last, since devices tend to interrupt the first.
pub fn reserve_core_without_realtime() -> Option<Vec<usize>> {
    let granted = thread::spawn(|| request_realtime(RealtimePriority::Path)).join();
    let kept = core_to_reserve(granted.unwrap_or(false))?;
    keep_to_cores(&kept).is_ok().then_some(kept)
}

/// The core that the calling thread's lab would keep, if its path has or has not that priority.
pub fn core_to_reserve(realtime: bool) -> Option<Vec<usize>> {
    let allowed = allowed_cores().ok()?;
    reserved_of(&allowed, threads_of_core).filter(|_| !realtime)
}

/// A whole core, where another one is left. Otherwise one of its hardware threads, so that nobody
/// else waits in the same queue; what they share slows both down.
fn reserved_of(allowed: &[usize], threads_of: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
    let (&last, others) = allowed.split_last()?;
    if others.is_empty() {
        return None;
    }
    let whole = threads_of(last);
    let kept: Vec<usize> = allowed
        .iter()
        .copied()
        .filter(|core| whole.contains(core))
        .collect();
    Some(kept)
        .filter(|kept| kept.len() < allowed.len())
        .or(Some(vec![last]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_last_core_with_all_of_its_threads_where_another_is_left() {
        let neighbours = |core: usize| vec![core & !1, core | 1];
        let far = |core: usize| vec![core % 4, core % 4 + 4];
        assert_eq!(reserved_of(&[0, 1], |core| vec![core]), Some(vec![1]));
        assert_eq!(reserved_of(&[0, 1, 2, 3], neighbours), Some(vec![2, 3]));
        assert_eq!(
            reserved_of(&[0, 1, 2, 3, 4, 5, 6, 7], far),
            Some(vec![3, 7])
        );
        // One core with two threads.
        assert_eq!(reserved_of(&[0, 1], neighbours), Some(vec![1]));
        // Of the last core this lab may use one thread alone.
        assert_eq!(reserved_of(&[0, 2, 3, 4], neighbours), Some(vec![4]));
        assert_eq!(reserved_of(&[5], neighbours), None);
        assert_eq!(reserved_of(&[], neighbours), None);
    }
}
