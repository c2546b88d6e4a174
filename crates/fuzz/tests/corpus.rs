//! Passes every input of the corpus to its target.

use eyelevel_fuzz::{TARGETS, Target, find};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn every_target_has_a_corpus_and_every_corpus_a_target() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(targets, names(&corpus_folder()));
    for name in targets {
        assert!(
            !names(&corpus_folder().join(&name)).is_empty(),
            "{name} has no input"
        );
    }
}

#[test]
fn every_input_passes() {
    for (name, target) in TARGETS {
        target(b"");
        read_all(name, target, &corpus_folder().join(name));
    }
}

/// The inputs that the runs of `docs/decisions/0010-fuzzing.md` found no longer fail.
#[test]
fn every_found_input_passes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("found");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("found.tar.gz");
    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(&packed)
        .arg("-C")
        .arg(&folder)
        .status();
    assert!(unpacked.unwrap().success(), "{}", packed.display());
    let found = names(&folder);
    assert!(!found.is_empty());
    for name in &found {
        let target = find(name).unwrap_or_else(|| panic!("{name} is no target"));
        read_all(name, target, &folder.join(name));
    }
}

fn read_all(name: &str, target: Target, folder: &Path) {
    for file in names(folder) {
        println!("{name}/{file}");
        target(&fs::read(folder.join(file)).unwrap());
    }
}
