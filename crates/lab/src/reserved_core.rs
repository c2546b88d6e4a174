//! The core that a lab reserves for its own threads where real-time priority is refused.

use eyelevel_netns::{
    RealtimePriority, allowed_cores, pin_to_cores, request_realtime, threads_of_core,
};
use std::thread;

/// Pins the calling thread, and all that it starts from then on, to the last core that it may use.
/// Returns that core's hardware threads, or `None` if the path gets real-time priority or there is
/// no second core.
///
/// A browser uses every core that it may. On two cores and at normal priority packets were released
/// 1 to 5 ms late at the 99th percentile, so that nearly no load counted
/// (docs/decisions/0035-without-priority.md). The browser is started without this core (`enter
/// --cores`). It is the last one, since devices tend to interrupt the first.
pub fn reserve_core_without_realtime() -> Option<Vec<usize>> {
    let granted = thread::spawn(|| request_realtime(RealtimePriority::Path)).join();
    let kept = core_to_reserve(granted.unwrap_or(false))?;
    pin_to_cores(&kept).is_ok().then_some(kept)
}

/// Returns the core that the calling thread's lab would reserve, depending on whether its path has
/// real-time priority.
pub fn core_to_reserve(realtime: bool) -> Option<Vec<usize>> {
    let allowed = allowed_cores().ok()?;
    select_core(&allowed, threads_of_core).filter(|_| !realtime)
}

/// Selects a whole core if another one is left. Otherwise it selects one of its hardware threads,
/// so that no other thread waits in the same run queue, although both slow each other down.
fn select_core(allowed: &[usize], threads_of: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
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
    fn the_last_whole_core_is_reserved_if_another_is_left() {
        let neighbours = |core: usize| vec![core & !1, core | 1];
        let far = |core: usize| vec![core % 4, core % 4 + 4];
        assert_eq!(select_core(&[0, 1], |core| vec![core]), Some(vec![1]));
        assert_eq!(select_core(&[0, 1, 2, 3], neighbours), Some(vec![2, 3]));
        assert_eq!(
            select_core(&[0, 1, 2, 3, 4, 5, 6, 7], far),
            Some(vec![3, 7])
        );
        // One core with two threads.
        assert_eq!(select_core(&[0, 1], neighbours), Some(vec![1]));
        // This lab may use only one thread of the last core.
        assert_eq!(select_core(&[0, 2, 3, 4], neighbours), Some(vec![4]));
        assert_eq!(select_core(&[5], neighbours), None);
        assert_eq!(select_core(&[], neighbours), None);
    }
}
