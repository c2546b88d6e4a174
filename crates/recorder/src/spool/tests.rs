//! A disk that fills while a body is written: that body is refused, and the others are intact.
#![allow(unsafe_code)]

use std::process::Command;

use super::*;

const OF_CHILD: &str = "EYELEVEL_SPOOL_CHILD";
const LIMIT: u64 = 100_000;

/// Limits the file size of this process, so that a write beyond it fails.
fn limit_files(bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: both calls take numbers and a pointer that outlives the call.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
}

fn body(letter: u8, bytes: usize) -> Vec<u8> {
    vec![letter; bytes]
}

/// Runs in its own process, because the limit applies to all threads.
#[test]
fn after_a_write_that_failed_midway_every_body_is_its_own() {
    if std::env::var_os(OF_CHILD).is_none() {
        let name = "spool::tests::after_a_write_that_failed_midway_every_body_is_its_own";
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(OF_CHILD, "1")
            .status();
        return assert!(status.unwrap().success());
    }
    let folder = std::env::temp_dir().join(format!("eyelevel-spool-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let mut spool = Spool::create(folder.join("spool")).unwrap();
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        0,
        "it has no name"
    );

    let first = spool.add(&body(b'a', 60_000)).unwrap();
    limit_files(LIMIT);
    let refused = spool.add(&body(b'b', 60_000)).unwrap_err().to_string();
    assert!(refused.contains("make room on its disk"), "{refused}");
    let small = spool.add(&body(b'c', 1_000)).unwrap(); // there is room for it
    limit_files(libc::RLIM_INFINITY);
    let last = spool.add(&body(b'd', 60_000)).unwrap();

    let all = spool.map().unwrap();
    let of = |range: &Range<u64>| all.slice(range.start as usize..range.end as usize);
    assert_eq!(of(&first), body(b'a', 60_000));
    assert_eq!(of(&small), body(b'c', 1_000));
    assert_eq!(of(&last), body(b'd', 60_000));
    assert_eq!(all.len(), 121_000, "what was refused takes no room");
    std::fs::remove_dir(&folder).unwrap();
}
