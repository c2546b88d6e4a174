//! The cores that a thread may use.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::Error;
use std::iter::once;

/// Returns the cores that the calling thread may use, in ascending order.
pub fn allowed_cores() -> Result<Vec<usize>, Error> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|core| set.is_set(*core))
        .collect())
}

/// Pins the calling thread, and what it starts from then on, to `cores`.
pub fn pin_to_cores(cores: &[usize]) -> Result<(), Error> {
    let mut set = CpuSet::new();
    for core in cores.iter().filter(|core| **core < CpuSet::MAX_CPU) {
        set.set(*core);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Returns the hardware threads of the same core as `core`, including itself, or only `core` if the
/// kernel does not report them.
pub fn threads_of_core(core: usize) -> Vec<usize> {
    let file = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    Some(parse_list(text.trim()))
        .filter(|found| found.contains(&core))
        .unwrap_or_else(|| vec![core])
}

/// Parses a list in the kernel's format, such as `0-3,8`; skips invalid parts.
fn parse_list(list: &str) -> Vec<usize> {
    let of_part = |part: &str| {
        let mut ends = part.splitn(2, '-').map(|end| end.parse::<usize>().ok());
        let first = ends.next().flatten()?;
        let last = ends.next().unwrap_or(Some(first))?;
        // A kernel has no more than these.
        (last < CpuSet::MAX_CPU).then_some(once(first).chain(first + 1..=last))
    };
    list.split(',').filter_map(of_part).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_the_kernels_is_read() {
        assert_eq!(parse_list("3"), [3]);
        assert_eq!(parse_list("0-1"), [0, 1]);
        assert_eq!(parse_list("2,6"), [2, 6]);
        assert_eq!(parse_list("0-2,8-9"), [0, 1, 2, 8, 9]);
        assert_eq!(parse_list(""), [] as [usize; 0]);
        assert_eq!(parse_list("x,4-,5,0-99999999"), [5]);
    }

    #[test]
    fn a_core_is_among_its_threads() {
        for core in allowed_cores().unwrap() {
            assert!(threads_of_core(core).contains(&core));
        }
        assert_eq!(threads_of_core(100_000), [100_000]);
    }

    #[test]
    fn a_thread_and_what_it_starts_are_held_to_a_core_alone() {
        let all = allowed_cores().unwrap();
        let last = [*all.last().expect("a thread has a core")];
        let inside = std::thread::spawn(move || {
            pin_to_cores(&last).unwrap();
            std::thread::spawn(|| allowed_cores().unwrap()).join()
        });
        assert_eq!(inside.join().unwrap().unwrap(), last);
        assert_eq!(allowed_cores().unwrap(), all);
        assert!(pin_to_cores(&[]).is_err());
    }
}
