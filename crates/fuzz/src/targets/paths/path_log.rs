use crate::targets::check_message;
use eyelevel_path::check_log;

/// Reads a path's log: its head, its records, and the model that replays them.
pub(crate) fn run(input: &[u8]) {
    let no_files = &mut |_: &mut _| Ok(());
    match check_log(input, no_files) {
        Ok(found) => assert!(found.differences.iter().all(|line| !line.contains('\n'))),
        Err(error) => check_message(&error),
    }
}
