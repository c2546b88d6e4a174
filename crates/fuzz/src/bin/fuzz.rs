//! Runs one target under libFuzzer: `FUZZ_TARGET=NAME fuzz [libFuzzer's options] CORPUS...`.
#![no_main]

use eyelevel_fuzz::{TARGETS, Target, find};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    find(&name).unwrap_or_else(|| {
        let known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "FUZZ_TARGET={name:?} is no target; known: {}",
            known.join(", ")
        );
        std::process::exit(2);
    })
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET(input));
