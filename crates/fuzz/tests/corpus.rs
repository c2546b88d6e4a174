//! Every input of the corpus through its target.

use eyelevel_fuzz::TARGETS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
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
    assert_eq!(targets, names(&corpus()));
    for name in targets {
        assert!(
            !names(&corpus().join(&name)).is_empty(),
            "{name} has no input"
        );
    }
}

#[test]
fn every_input_holds() {
    for (name, target) in TARGETS {
        let folder = corpus().join(name);
        target(b"");
        for file in names(&folder) {
            println!("{name}/{file}");
            target(&fs::read(folder.join(file)).unwrap());
        }
    }
}
